package phase

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/profiles"
)

func TestPhasesFollowOneAnother(t *testing.T) {
	const s = int64(time.Second)
	for _, c := range []struct {
		w    profiles.Workload
		want Phases
	}{
		{profiles.Workload{Warmup: time.Second, Quiet: 2 * time.Second, Duration: 3 * time.Second}, Phases{10 * s, 11 * s, 13 * s, 16 * s}},
		{profiles.Workload{Duration: 3 * time.Second}, Phases{10 * s, 10 * s, 10 * s, 13 * s}},
	} {
		if got := Of(&c.w, 10*s); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

func TestSleepUntil(t *testing.T) {
	at := Now() + int64(5*time.Millisecond)
	SleepUntil(at)
	if Now() < at {
		t.Error("too early")
	}
	SleepUntil(Now() - 1) // returns
}
