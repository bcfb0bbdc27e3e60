package admin

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// busyNameserver is one that has something to show of every metric.
func busyNameserver(t *testing.T) (s *namesrv.Server, url string) {
	t.Helper()
	s = startNameserver(t, func(c *settings.Settings) { c.PeerListenAddress = "127.0.0.1:0" })
	startNameserver(t, func(c *settings.Settings) { c.PeerListenAddress, c.Peers = "127.0.0.1:0", s.Peers().Addr })
	for end := time.Now().Add(waitLimit); ; time.Sleep(10 * time.Millisecond) {
		if m := s.Peers().Members; len(m) == 1 && m[0].Comparable {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the other nameserver isn't there")
		}
	}
	p := dial(t, s)
	p.register("C", "a", "10.0.0.1:10911")
	p.register("C", "a", "10.0.0.1:10911")
	p.call(codec.RequestGetRouteInfoByTopic, "", "topic", "Base")
	p.call(codec.RequestGetRouteInfoByTopic, "", "topic", "None")
	p.call(codec.RequestPutKVConfig, "", "namespace", "n", "key", "k", "value", "v")
	p.call(4711, "")
	expiry := time.Unix(2_000_000_000, 0)
	return s, serve(t, Options{Source: s, TLS: func() time.Time { return expiry }})
}

// scrapeFile is for promtool.
var scrapeFile = flag.String("scrape", "", "write a scrape to this file")

func TestScrape(t *testing.T) {
	_, url := busyNameserver(t)
	text := scrape(t, url)
	if *scrapeFile != "" {
		if err := os.WriteFile(*scrapeFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		`waymark_requests_total{request_code="get_routeinfo_by_topic",response_code="success",result="success"} 1`,
		`waymark_requests_total{request_code="get_routeinfo_by_topic",response_code="topic_not_exist",result="success"} 1`,
		`waymark_requests_total{request_code="register_broker",response_code="success",result="success"} 2`,
		`waymark_requests_total{request_code="other",response_code="request_code_not_supported",result="success"} 1`,
		`rocketmq_namesrv_requests_total{request_type="route-read",result="success"} 1`,
		`rocketmq_namesrv_requests_total{request_type="broker-control",result="success"} 2`,
		`rocketmq_namesrv_requests_total{request_type="admin",result="rejected"} 0`,
		`rocketmq_namesrv_route_request_total 2`,
		`rocketmq_namesrv_route_errors_total{result="not_found"} 1`,
		`rocketmq_namesrv_broker_registrations 2`,
		`rocketmq_namesrv_registration_events_total{result="changed"} 1`,
		`rocketmq_namesrv_registration_events_total{result="no-op"} 1`,
		`rocketmq_namesrv_active_brokers 1`,
		`rocketmq_namesrv_active_connections 1`,
		`waymark_registrations_recognised_total 1`,
		`waymark_events_total{kind="registered"} 1`,
		`waymark_events_total{kind="expired"} 0`,
		`waymark_topics 2`,
		`waymark_connections{language="JAVA",version="5.5.0"} 1`,
		`waymark_connections_closed_total{reason="peer"} 0`,
		`waymark_frames_total 6`,
		`waymark_loops 2`,
		`waymark_loops_missing 0`,
		`waymark_state{state="serving"} 1`,
		`waymark_peers{state="ready"} 1`,
		`waymark_peers{state="gone"} 0`,
		`waymark_state{state="draining"} 0`,
		`waymark_unsent_limit_bytes 2.68435456e+08`,
		`waymark_tls_certificate_expiry_timestamp_seconds 2e+09`,
		`rocketmq_namesrv_kv_persist_latency_count{result="success"} 1`,
		`rocketmq_namesrv_registration_dirty_topics_sum 2`,
		`rocketmq_rpc_latency_count{is_long_polling="false",protocol_type="remoting",request_code="other",response_code="request_code_not_supported",result="success"} 1`,
	} {
		wantLine(t, text, line)
	}
	if !strings.Contains(text, `waymark_broker_silent_seconds{addr="10.0.0.1:10911",broker="a",cluster="C",id="0"} `) {
		t.Error("the broker is missing")
	}
}

// Every metric of the table comes out of a scrape, and passes Prometheus's own check, but for one name that is rocketmq-rust's.
func TestMetricsArePresentAndWellFormed(t *testing.T) {
	s, url := busyNameserver(t)
	text := scrape(t, url)
	for _, m := range table {
		if !strings.Contains(text, fmt.Sprintf("\n# TYPE %s %s\n", m.name, m.kind)) {
			t.Errorf("no %s %s", m.kind, m.name)
		}
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(&collector{source: s, tls: func() time.Time { return time.Unix(1, 0) }})
	problems, err := testutil.GatherAndLint(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Metric != "rocketmq_namesrv_broker_registrations" {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Names that brokers send can be any bytes of any length, and alike where they are shown. The others' figures are shown all the same.
func TestHostileBrokerNames(t *testing.T) {
	long := strings.Repeat("é", 300)
	source := &fakeSource{metrics: func(context.Context) *namesrv.Metrics {
		return &namesrv.Metrics{Brokers: []namesrv.BrokerMetrics{
			{Cluster: "C", Name: "a\"\\\n", Addr: "a:1"},
			{Cluster: "C", Name: "b\xff\xfe", Addr: "b:1"},
			{Cluster: "C", Name: long + "1", Addr: "c:1", ID: 1},
			{Cluster: "C", Name: long + "2", Addr: "c:1", ID: 1},
			{Cluster: "C", Name: "good", Addr: "d:1"},
		}}
	}}
	text := scrape(t, serve(t, Options{Source: source}))
	if n := strings.Count(text, "\nwaymark_broker_silent_seconds{"); n != 4 {
		t.Errorf("%d brokers shown, want 4", n)
	}
	wantLine(t, text, `waymark_broker_silent_seconds{addr="a:1",broker="a\"\\\n",cluster="C",id="0"} 0`)
	wantLine(t, text, `waymark_broker_silent_seconds{addr="d:1",broker="good",cluster="C",id="0"} 0`)
	wantLine(t, text, `rocketmq_namesrv_active_brokers 5`)
}

// A scrape gives busy loops a deadline, and those beyond two at a time are told to come again.
func TestScrapesAreBounded(t *testing.T) {
	entered, leave := make(chan struct{}, 8), make(chan struct{})
	source := &fakeSource{metrics: func(ctx context.Context) *namesrv.Metrics {
		if due, ok := ctx.Deadline(); !ok || time.Until(due) > scrapeLimit {
			t.Error("no deadline")
		}
		entered <- struct{}{}
		<-leave
		return &namesrv.Metrics{}
	}}
	url := serve(t, Options{Source: source})
	var scrapes sync.WaitGroup
	for range maxScrapes {
		scrapes.Go(func() { scrape(t, url) })
		<-entered
	}
	if status, _ := do(t, "GET", url+"/metrics"); status != 503 {
		t.Errorf("one more: status %d", status)
	}
	close(leave)
	scrapes.Wait()
}

// A server that hasn't started shows that.
func TestScrapeBeforeTheStart(t *testing.T) {
	text := scrape(t, serve(t, Options{Source: &fakeSource{state: namesrv.Starting}}))
	wantLine(t, text, `waymark_state{state="starting"} 1`)
	wantLine(t, text, `waymark_loops 0`)
	if strings.Contains(text, "waymark_tls_certificate") {
		t.Error("a certificate's expiry without one")
	}
}

// What brokers' deaths and peers are counted by is shown.
func TestLookoutIsShown(t *testing.T) {
	text := scrape(t, serve(t, Options{Source: &fakeSource{state: namesrv.Serving, metrics: func(context.Context) *namesrv.Metrics {
		return &namesrv.Metrics{
			State: namesrv.Serving, Peers: namesrv.PeerList{On: true},
			Lookout: namesrv.LookoutMetrics{Answered: 1, Refused: 2, Unanswered: 3, Impossible: 4, Forbidden: 5, Suspects: 6, Untold: 7},
		}
	}}}))
	for i, outcome := range []string{"answered", "refused", "unanswered", "impossible", "forbidden"} {
		wantLine(t, text, fmt.Sprintf("waymark_probes_total{outcome=%q} %d", outcome, i+1))
	}
	wantLine(t, text, "waymark_brokers_unanswering 6")
	wantLine(t, text, `waymark_peer_words_total{result="untold"} 7`)
}

// A fault while figures are gathered is that scrape's error, told of with its stack, and no other's. A figure that can't be shown takes
// no other with it.
func TestFaultInAScrape(t *testing.T) {
	var metrics *namesrv.Metrics // nil is a fault
	source := &fakeSource{state: namesrv.Serving, metrics: func(context.Context) *namesrv.Metrics { return metrics }}
	var log strings.Builder
	url := serve(t, Options{Source: source, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	status, body := do(t, "GET", url+"/metrics")
	if status != http.StatusInternalServerError || !strings.Contains(body, errGathering.Error()) || strings.Contains(body, "waymark_") {
		t.Errorf("%d %q", status, body)
	}
	if !strings.Contains(log.String(), "nil pointer") || !strings.Contains(log.String(), "metrics.go") {
		t.Errorf("log %q", log.String())
	}
	metrics = &namesrv.Metrics{Clients: []namesrv.ClientMetrics{{Language: "\xff", Version: "1", Conns: 1}}}
	status, body = do(t, "GET", url+"/metrics")
	if status != http.StatusOK || !strings.Contains(body, "\nwaymark_topics 0\n") || strings.Contains(body, "waymark_connections{") {
		t.Errorf("%d %q", status, body)
	}
}
