package conformance

import (
	"strings"
	"testing"
)

// TestPlayer shows that the player sees what it is there to see.
func TestPlayer(t *testing.T) {
	route := Step{Conn: "a", Code: codeGetRoute, Ext: map[string]string{"topic": "T"}}
	notFound := &Want{Code: 17, Flag: 1, Remark: "No topic route info in name server for the topic: T\n" +
		"See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."}
	with := func(change func(*Step)) Step {
		s := route
		change(&s)
		return s
	}
	tests := []struct {
		name    string
		steps   []Step
		differs string // part of the one difference; "": none
	}{
		{"the recorded answer", []Step{with(func(s *Step) { s.Want = notFound })}, ""},
		{"another one", []Step{with(func(s *Step) { s.Want = &Want{Flag: 1} })}, "code: want 0"},
		{"the recorded answer to a binary header", []Step{with(func(s *Step) { s.Type, s.Want = typeBinary, notFound })}, ""},
		{"one-way", []Step{with(func(s *Step) { s.Flag = flagOneway })}, ""},
		{"an answer where none was recorded", []Step{route}, "want no answer"},
		{"the end of the connection", []Step{{Conn: "a", Header: `{"code":`, Want: &Want{Closed: true}}}, ""},
		{"an end that was not recorded", []Step{{Conn: "a", Header: `{"code":`, Want: notFound}}, "got the end of the connection"},
		{"the opaque of a text header", []Step{{Conn: "a", Header: `{"code":9998,"opaque":5}`, Want: &Want{Code: 3, Flag: 1, Opaque: 5, Remark: " request type 9998 not supported"}}}, ""},
		{"another opaque", []Step{{Conn: "a", Header: `{"code":9998,"opaque":5}`, Want: &Want{Code: 3, Flag: 1, Opaque: 6, Remark: " request type 9998 not supported"}}}, "opaque"},
		{"two connections", []Step{with(func(s *Step) { s.Want = notFound }), with(func(s *Step) { s.Conn, s.Want = "b", notFound }), {Conn: "a", Close: true}}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			differs := PlayScenario("test", test.steps, startOur(t, nil), Options{Immediate: true})
			switch {
			case test.differs == "":
				reportAll(t, differs)
			case len(differs) != 1 || !strings.Contains(differs[0].Detail, test.differs):
				t.Errorf("differences %v, want one with %q", differs, test.differs)
			}
		})
	}
}
