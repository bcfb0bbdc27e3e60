package bench

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/netpoll"
)

// BenchmarkLoops runs queries through one to all processors' event loops at once, without sockets and so without clients that
// want processors too: what more loops bring, and, beside the floor's, what sharing one snapshot costs them. In the last rows a
// broker changes its table meanwhile, so that there are new snapshots.
func BenchmarkLoops(b *testing.B) {
	const brokers, topics, depth = 4, 100, 32
	s := startNameserver(b)
	for i := range brokers {
		dial(b, s).call(registration(i, topics, 1, 1))
	}
	var batch []byte
	for n := range depth {
		batch = append(batch, request(codec.SerializeJSON, codec.RequestGetRouteInfoByTopic, nil,
			codec.ExtField{Name: "topic", Value: fmt.Sprintf("T%d", n*3)})...)
	}
	answer := func() netpoll.LoopHandler { return fixed{make([]byte, 936)} }
	for _, r := range []struct {
		name     string
		handler  func() netpoll.LoopHandler
		changing bool
	}{{"floor", answer, false}, {"route", s.NewLoop, false}, {"routeWhileChanging", s.NewLoop, true}} {
		for loops := 1; loops <= runtime.NumCPU(); loops *= 2 {
			b.Run(fmt.Sprintf("%s/loops=%d", r.name, loops), func(b *testing.B) {
				if r.changing {
					defer changeAllTheTime(b, dial(b, s), topics)()
				}
				runLoops(b, loops, r.handler, batch)
				b.ReportMetric(float64(b.N*loops*depth)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
}

// runLoops has every loop read the batch b.N times.
func runLoops(b *testing.B, loops int, handler func() netpoll.LoopHandler, batch []byte) {
	pipes := make([]*netpoll.Pipe, loops)
	for i := range pipes {
		pipes[i] = netpoll.NewPipe(handler(), netpoll.Options{})
	}
	var done sync.WaitGroup
	b.ResetTimer()
	for _, p := range pipes {
		own := bytes.Clone(batch)
		done.Go(func() {
			for range b.N {
				if answers, err := p.Feed(own); err != nil || len(answers) == 0 {
					b.Error(len(answers), err)
					return
				}
			}
		})
	}
	done.Wait()
	b.StopTimer()
}

// changeAllTheTime has a broker register one changed topic after another until the returned function is called.
func changeAllTheTime(b *testing.B, c client, topics int) (stop func()) {
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for version := int64(2); ; version++ {
			select {
			case <-stopping:
				return
			default:
				c.call(registration(1, topics, version, version))
			}
		}
	}()
	return func() { close(stopping); <-stopped }
}
