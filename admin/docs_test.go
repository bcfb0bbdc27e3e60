package admin

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write METRICS.md anew")

const docsFile = "../METRICS.md"

const docsHead = `# Metrics

What ` + "`http://127.0.0.1:9870/metrics`" + ` (setting ` + "`adminListen`" + `) shows, in Prometheus's text format. Counters are from the start of the process on. Dashboard and alert rules
are in ` + "`dist/grafana/waymark.json`" + ` and ` + "`dist/prometheus/alerts.yml`" + `.

Names that begin with ` + "`rocketmq_`" + ` mean what they mean elsewhere: ` + "`rocketmq_rpc_latency`" + ` is that of RIP-46, with its labels, and its bounds beside finer ones below 1 ms;
` + "`rocketmq_namesrv_*`" + ` are those of rocketmq-rust 1.0.0, with their units. Those that begin with ` + "`waymark_`" + ` are ours. Beside them are the Go client library's ` + "`go_*` and `process_*`" + `.

Numbers of label values are bounded: codes and results by what the server knows, languages and versions to 65 for each event loop, brokers by those that are live.

Each event loop counts in memory of its own and copies it when it is scraped. Requests are counted one by one. Latencies of requests that a loop answers itself are measured at most once a millisecond for each
code and result; requests in between take the latency that is measured next, so that a histogram's count may be behind ` + "`waymark_requests_total`" + ` by what came since.
A loop that doesn't answer a scrape within 3 s counts as last seen, and ` + "`waymark_loops_missing`" + ` says so.

This page is made from the table in ` + "`admin`" + `: ` + "`go test ./admin -run TestDocs -update`" + `.

| Name | Type | Unit | Labels | Meaning |
|---|---|---|---|---|
`

func docs() []byte {
	var out bytes.Buffer
	out.WriteString(docsHead)
	for _, m := range table {
		var labels []string
		for _, l := range m.labels {
			labels = append(labels, l.name+": "+l.values)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s. |\n", m.name, m.kind, m.unit, strings.Join(labels, "; "), m.help)
	}
	return out.Bytes()
}

// TestDocs holds METRICS.md to the table.
func TestDocs(t *testing.T) {
	want := docs()
	if *update {
		if err := os.WriteFile(docsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: run with -update", docsFile)
	}
}
