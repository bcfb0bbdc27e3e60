package admin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/waymark-mq/waymark/internal/build"
	"github.com/waymark-mq/waymark/namesrv"
)

const (
	// scrapeLimit is how long a scrape waits for busy event loops; Prometheus gives up after 10 s.
	scrapeLimit = 3 * time.Second
	maxScrapes  = 2 // at a time
)

// newMetrics is the handler of /metrics. What it needs is made by the first scrape, so that a start doesn't wait for it.
func newMetrics(o *Options) http.Handler {
	make := sync.OnceValue(func() http.Handler {
		r := prometheus.NewRegistry()
		r.MustRegister(&collector{source: o.Source, tls: o.TLS, build: build.Read(), logger: o.Logger},
			collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		return promhttp.HandlerFor(prometheus.GathererFunc(wholeOrNothing(r.Gather)), promhttp.HandlerOpts{
			MaxRequestsInFlight: maxScrapes,
			ErrorHandling:       promhttp.ContinueOnError, // a figure that is wrong takes no other with it
			ErrorLog:            slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
		})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { make().ServeHTTP(w, r) })
}

// collector gathers when it is scraped, and keeps nothing. Any goroutine.
type collector struct {
	source Source
	tls    func() time.Time
	build  build.Info
	logger *slog.Logger
}

// errGathering stands for all figures of a scrape that ran into a fault: it is answered 500. Gathering happens on goroutines of the
// library, where a fault that isn't recovered would end the process.
var errGathering = errors.New("admin: fault while metrics were gathered")

// wholeOrNothing gathers nothing if a collector ran into a fault: what it hadn't come to yet would be taken for absent.
func wholeOrNothing[T any](gather func() ([]T, error)) func() ([]T, error) {
	return func() ([]T, error) {
		families, err := gather()
		all := prometheus.MultiError{err}
		errors.As(err, &all) // unless it is the only one
		if slices.ContainsFunc(all, func(err error) bool { return errors.Is(err, errGathering) }) {
			return nil, errGathering
		}
		return families, err
	}
}

// recovered, deferred, makes a fault the scrape's error.
func (c *collector) recovered(ch chan<- prometheus.Metric) {
	if r := recover(); r != nil {
		c.logger.Error("fault while metrics were gathered", "panic", r, "stack", string(debug.Stack()))
		ch <- prometheus.NewInvalidMetric(buildInfo.desc, errGathering)
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range table {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	defer c.recovered(ch)
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	m := c.source.Metrics(ctx)
	s := sink{ch}
	s.requests(m)
	s.table(m)
	s.registrations(m)
	s.writing(m)
	s.network(m)
	s.access(m)
	s.tls(m)
	s.peers(&m.Peers, m.Lookout.Untold)
	s.process(m)
	if c.tls != nil {
		if t := c.tls(); !t.IsZero() {
			s.value(tlsExpiry, float64(t.Unix()))
		}
	}
	s.value(buildInfo, 1, c.build.Version, c.build.Revision, c.build.Go)
}

// sink turns figures into Prometheus's metrics.
type sink struct{ ch chan<- prometheus.Metric }

func (s sink) value(m *metric, v float64, labels ...string) {
	t := prometheus.GaugeValue
	if m.kind == counter {
		t = prometheus.CounterValue
	}
	s.send(m)(prometheus.NewConstMetric(m.desc, t, v, labels...))
}

// send shows a figure, or makes it an error of the scrape.
func (s sink) send(m *metric) func(prometheus.Metric, error) {
	return func(figure prometheus.Metric, err error) {
		if err != nil {
			figure = prometheus.NewInvalidMetric(m.desc, err)
		}
		s.ch <- figure
	}
}

// histogram shows h in units of which divisor come on one of h's.
func (s sink) histogram(m *metric, h namesrv.Histogram, divisor float64, labels ...string) {
	buckets := make(map[float64]uint64, len(h.Bounds))
	var n uint64
	for i, count := range h.Counts {
		n += count
		if i < len(h.Bounds) {
			buckets[float64(h.Bounds[i])/divisor] = n
		}
	}
	s.send(m)(prometheus.NewConstHistogram(m.desc, n, float64(h.Sum)/divisor, buckets, labels...))
}

func (s sink) requests(m *namesrv.Metrics) {
	byType := map[[2]string]uint64{}
	for _, class := range []string{"route-read", "broker-control", "admin"} {
		for _, outcome := range []string{"success", "rejected", "error"} {
			byType[[2]string{class, outcome}] = 0
		}
	}
	routes := namesrv.Histogram{}
	errs := map[string]uint64{"not_found": 0, "rejected": 0, "internal": 0}
	var registrations uint64
	for i := range m.Requests {
		r := &m.Requests[i]
		s.histogram(rpcLatency, r.Latency, perMilli, "remoting", r.Code, r.Response, "false", r.Result)
		s.value(requests, float64(r.Count), r.Code, r.Response, r.Result)
		byType[[2]string{r.Class, r.Outcome}] += r.Count
		switch r.Code {
		case "get_routeinfo_by_topic":
			routes = merged(routes, r.Latency)
			if why := routeError(r); why != "" {
				errs[why] += r.Count
			}
		case "register_broker":
			registrations += r.Count
		}
	}
	for key, n := range byType {
		s.value(requestsByType, float64(n), key[0], key[1])
	}
	for why, n := range errs {
		s.value(routeErrors, float64(n), why)
	}
	s.value(routeRequests, float64(m.RouteRequests))
	s.histogram(routeLatency, routes, perMilli)
	s.value(brokerRegistrations, float64(registrations))
}

// routeError is why a query got no route; "" if it got one, or nobody waited for it.
func routeError(r *namesrv.RequestMetrics) string {
	switch r.Response {
	case "success":
		return ""
	case "topic_not_exist":
		return "not_found"
	case "system_busy", "system_error", "go_away": // an error is "not ready"
		return "rejected"
	}
	if r.Result == "oneway" {
		return ""
	}
	return "internal"
}

// merged adds two histograms of the same bounds; a may be the zero value.
func merged(a, b namesrv.Histogram) namesrv.Histogram {
	sum := namesrv.Histogram{Bounds: b.Bounds, Counts: append([]uint64(nil), b.Counts...), Sum: a.Sum + b.Sum}
	for i, n := range a.Counts {
		sum.Counts[i] += n
	}
	return sum
}

func (s sink) table(m *namesrv.Metrics) {
	s.value(activeBrokers, float64(len(m.Brokers)))
	s.value(topics, float64(m.Topics))
	s.value(snapshotAge, m.SnapshotAge.Seconds())
	type key struct{ cluster, name, addr string }
	seen := make(map[key]bool, len(m.Brokers))
	held := 0
	for i := range m.Brokers {
		b := &m.Brokers[i]
		if b.Suspect {
			held++
		}
		k := key{shown(b.Cluster), shown(b.Name), shown(b.Addr)}
		if seen[k] { // names that differ where they aren't shown
			continue
		}
		seen[k] = true
		s.value(brokerSilent, b.Silent.Seconds(), k.cluster, k.name, strconv.FormatInt(b.ID, 10), k.addr)
	}
	s.value(suspects, float64(held))
	s.value(unanswering, float64(m.Lookout.Suspects))
	s.value(probes, float64(m.Lookout.Answered), "answered")
	s.value(probes, float64(m.Lookout.Refused), "refused")
	s.value(probes, float64(m.Lookout.Unanswered), "unanswered")
	s.value(probes, float64(m.Lookout.Impossible), "impossible")
	s.value(probes, float64(m.Lookout.Forbidden), "forbidden")
	s.value(provisional, float64(m.Provisional))
	s.value(routeWrites, float64(m.RouteFile.Written), "written")
	s.value(routeWrites, float64(m.RouteFile.Failed), "failed")
	s.value(routeBytes, float64(m.RouteFile.Bytes))
	s.value(routeAge, m.RouteFile.Age.Seconds())
}

// shown is what a peer sent as a label's value may be: short, and UTF-8.
func shown(s string) string {
	const most = 200
	return strings.ToValidUTF8(s[:min(len(s), most)], "\uFFFD")
}

func (s sink) registrations(m *namesrv.Metrics) {
	byKind := map[string]uint64{}
	for _, e := range m.Events {
		s.value(events, float64(e.Count), e.Kind)
		byKind[e.Kind] = e.Count
	}
	s.value(recognised, float64(m.Recognised))
	s.value(unknownBeats, float64(m.UnknownBeats))
	s.value(registrationEvents, float64(byKind["registered"]+byKind["changed"]), "changed")
	s.value(registrationEvents, float64(byKind["unchanged"]+m.Recognised), "no-op")
	s.value(registrationEvents, float64(byKind["refused"]+byKind["conflict"]+byKind["rejected"]), "rejected")
	s.histogram(dirtyTopics, m.ChangedTopics, 1)
	s.histogram(decodeLatency, m.Decoding, perMicro)
}

func (s sink) writing(m *namesrv.Metrics) {
	s.histogram(laneWait, m.LaneWait, perSecond)
	s.histogram(mutationLatency, m.QueueWait, perMicro, "wait")
	s.histogram(mutationLatency, m.StepTime, perMicro, "hold")
	s.histogram(stepSize, m.StepSize, 1)
	s.value(writeQueue, float64(m.WriteQueue))
	s.value(writeBytes, float64(m.WriteBytes))
	s.value(writeLimit, float64(m.WriteLimit))
	s.value(listQueue, float64(m.ListQueue))
	s.histogram(kvLatency, m.KVWrite, perMicro, "success")
	s.histogram(kvLatency, m.KVFailed, perMicro, "failed")
	s.histogram(kvBatch, m.KVBatch, 1)
	s.value(kvQueue, float64(m.DiskQueue))
}

func (s sink) network(m *namesrv.Metrics) {
	n := &m.Net
	for _, c := range m.Clients {
		s.value(connections, float64(c.Conns), c.Language, c.Version)
	}
	var ended uint64
	for reason, count := range n.Closed {
		s.value(closed, float64(count), reason)
		ended += count
	}
	for _, v := range []struct {
		metric *metric
		value  float64
	}{
		{activeConnections, float64(n.Conns)}, {accepted, float64(n.Accepted)}, {refused, float64(n.Refused)}, {failed, float64(n.Failed)},
		{frames, float64(n.Frames)}, {writes, float64(n.Writes)}, {bytesIn, float64(n.BytesIn)}, {bytesOut, float64(n.BytesOut)},
		{assembled, float64(n.Assembled)}, {panics, float64(n.Panics + m.Panics)},
		{unsent, float64(n.UnsentBytes)}, {unsentLimit, float64(n.MaxUnsentBytes)},
		{held, float64(n.HeldBytes)}, {heldLimit, float64(n.MaxHeldBytes)},
		{loops, float64(n.Loops)}, {loopsMissing, float64(n.Missing)},
	} {
		s.value(v.metric, v.value)
	}
	s.value(connectionEvents, float64(n.Opened), "admitted")
	s.value(connectionEvents, float64(n.Refused+m.Access.ConnectionsLimited), "rejected")
	s.value(connectionEvents, float64(ended), "closed")
}

func (s sink) access(m *namesrv.Metrics) {
	a := &m.Access
	s.value(accessDenied, float64(a.RefusedAdmin), "admin", "enforce")
	s.value(accessDenied, float64(a.RefusedBroker), "broker", "enforce")
	s.value(accessDenied, float64(a.ObservedAdmin), "admin", "observe")
	s.value(accessDenied, float64(a.ObservedBroker), "broker", "observe")
	s.value(connectionsLimited, float64(a.ConnectionsLimited))
	s.value(missesLimited, float64(a.MissesLimited))
	s.value(auditRecords, float64(a.AuditWritten), "written")
	s.value(auditRecords, float64(a.AuditLost), "lost")
	s.value(badOrderConfs, float64(m.BadOrderConfs))
	s.value(absentOrderBrokers, float64(m.AbsentOrderBrokers))
}

func (s sink) tls(m *namesrv.Metrics) {
	s.value(tlsConnections, float64(m.Net.TLSConns))
	s.value(tlsHandshakes, float64(m.Net.Handshakes), "done")
	s.value(tlsHandshakes, float64(m.Net.HandshakesFailed), "failed")
	s.value(tlsHandshakes, float64(m.Net.HandshakesRefused), "refused")
	s.value(tlsReloads, float64(m.TLSReloads), "done")
	s.value(tlsReloads, float64(m.TLSUnloaded), "failed")
}

func (s sink) peers(p *namesrv.PeerList, untold uint64) {
	if !p.On {
		return
	}
	states := map[string]int{"starting": 0, "ready": 0, "draining": 0, "leaving": 0, "gone": 0}
	seen := map[string]bool{}
	for i := range p.Members {
		m := &p.Members[i]
		if !m.Alive {
			states["gone"]++
			continue
		}
		states[m.State.String()]++
		name := shown(m.Name)
		if !m.Comparable || seen[name] {
			continue
		}
		seen[name] = true
		s.value(peerDivergence, m.Differs.Seconds(), name)
		differs := 0.0
		if m.KVDiffers {
			differs = 1
		}
		s.value(peerKV, differs, name)
	}
	for name, n := range states {
		s.value(peerMembers, float64(n), name)
	}
	c := &p.Counts
	for _, v := range []struct {
		metric *metric
		label  string
		n      uint64
	}{
		{peerWords, "told", c.Told}, {peerWords, "heard", c.Heard}, {peerWords, "late", c.Late}, {peerWords, "full", c.Full},
		{peerWords, "flooded", c.Flooded}, {peerWords, "unsayable", c.Unsayable}, {peerWords, "untold", untold},
		{peerMessages, "malformed", c.Malformed}, {peerMessages, "unreadable", c.Unreadable}, {peerMessages, "unknown", c.Unknown}, {peerMessages, "stranger", c.Strangers},
		{peerMessages, "repeated", c.Repeated}, {peerMessages, "unanswered", c.Unanswered},
	} {
		s.value(v.metric, float64(v.n), v.label)
	}
	s.value(peerRefused, float64(c.Refused))
}

func (s sink) process(m *namesrv.Metrics) {
	for st := namesrv.Starting; st <= namesrv.Stopping; st++ {
		v := 0.0
		if st == m.State {
			v = 1
		}
		s.value(state, v, st.String())
	}
}
