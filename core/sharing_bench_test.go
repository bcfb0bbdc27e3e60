package core_test

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/core"
)

// BenchmarkSharing is brokers that share a topic: registering in one step and each in one of its own, and ending
// in one step.
func BenchmarkSharing(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		come, leave := sharing(n), ends(n)
		out := new(core.Outcome)
		per := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/broker")
		}
		b.Run(fmt.Sprintf("brokers=%d/come", n), func(b *testing.B) {
			for b.Loop() {
				core.NewTable(core.DefaultSettings(), nil).Step(0, come, out)
			}
			per(b)
		})
		b.Run(fmt.Sprintf("brokers=%d/come-singly", n), func(b *testing.B) {
			for b.Loop() {
				table := core.NewTable(core.DefaultSettings(), nil)
				for i := range come {
					table.Step(0, come[i:i+1], out)
				}
			}
			per(b)
		})
		b.Run(fmt.Sprintf("brokers=%d/go", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				table := core.NewTable(core.DefaultSettings(), nil)
				table.Step(0, come, out)
				b.StartTimer()
				table.Step(1, leave, out)
			}
			per(b)
		})
	}
}
