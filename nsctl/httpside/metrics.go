package httpside

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Requests are counts since the start of the server.
type Requests struct {
	Total  float64
	Failed float64            // answered with an error
	ByCode map[string]float64 // by request_code
}

// Requests reads how many requests were answered from /metrics.
func (c *Client) Requests(ctx context.Context) (Requests, error) {
	body, _, err := c.do(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return Requests{}, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		return Requests{}, fmt.Errorf("%s: /metrics: %w", c.addr, err)
	}
	const name = "waymark_requests_total"
	family, ok := families[name]
	if !ok {
		return Requests{}, fmt.Errorf("%s: /metrics has no %s", c.addr, name)
	}
	r := Requests{ByCode: map[string]float64{}}
	for _, m := range family.GetMetric() {
		n := m.GetCounter().GetValue()
		r.Total += n
		r.ByCode[labelOf(m, "request_code")] += n
		if labelOf(m, "result") == "process_request_failed" {
			r.Failed += n
		}
	}
	return r, nil
}

func labelOf(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
