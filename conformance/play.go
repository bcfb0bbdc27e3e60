package conformance

import (
	"fmt"
	"os"
)

// PlayScenario plays the steps of one scenario on a fresh server and returns
// the answers that differ from the recorded ones.
func PlayScenario(name string, steps []Step, t Target, o Options) []Difference {
	s := newSession(t, o)
	for i := range steps {
		s.step(name, &steps[i])
	}
	s.endAll()
	return s.differs
}

// step plays one step of a scenario or a seed.
func (s *session) step(file string, step *Step) {
	where := fmt.Sprintf("%s:%d", file, step.Line)
	if step.Close {
		s.end(step.Conn, where)
		return
	}
	opaque := int32(0)
	if c, err := s.conn(step.Conn); err == nil {
		opaque = c.nextOpaque()
	}
	e, err := step.exchange(file, opaque)
	if err != nil {
		s.report(where, "", "%v", err)
		return
	}
	s.play(step.Conn, e)
}

// Play plays recorded scenarios on a nameserver that already runs and is empty.
// What one of them leaves behind is there for the next. The recorded answers
// are expected as they are.
func Play(addr string, files ...string) ([]Difference, error) {
	var differs []Difference
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return differs, fmt.Errorf("conformance: %w", err)
		}
		steps, err := ReadScenario(f)
		f.Close()
		if err != nil {
			return differs, fmt.Errorf("%s: %w", file, err)
		}
		differs = append(differs, PlayScenario(file, steps, runningTarget(addr), Options{})...)
	}
	return differs, nil
}

// runningTarget is a server that somebody else started and will stop.
type runningTarget string

func (t runningTarget) Addr() string { return string(t) }
func (t runningTarget) Close()       {}
