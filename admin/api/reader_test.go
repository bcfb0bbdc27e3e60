package api

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/nsctl/httpside"
)

// jsonFields are the fields of a struct in JSON, with their Go kinds.
func jsonFields(v any) map[string]reflect.Kind {
	fields := map[string]reflect.Kind{}
	for f := range reflect.TypeOf(v).Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			t := f.Type
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			fields[name] = t.Kind()
		}
	}
	return fields
}

// The tool reads all of an event, under the same names.
func TestReaderOfEventsKnowsAllFields(t *testing.T) {
	written, read := jsonFields(eventJSON{}), jsonFields(httpside.Event{})
	if len(written) < 15 || !maps.Equal(written, read) {
		t.Errorf("written\n%v\nread\n%v", written, read)
	}
}

// What the tool reads of other answers is there.
func TestReaderAsksForFieldsThatExist(t *testing.T) {
	for _, tt := range []struct {
		name          string
		written, read any
	}{
		{"server", serverJSON{}, httpside.Server{}},
		{"member", memberJSON{}, httpside.Member{}},
		{"probe", probeJSON{}, httpside.Probe{}},
		{"broker", brokerJSON{}, httpside.Broker{}},
		{"queue", queueJSON{}, httpside.Queue{}},
		{"why", brokerWhyJSON{}, httpside.Why{}},
	} {
		written := jsonFields(tt.written)
		for name, kind := range jsonFields(tt.read) {
			got, ok := written[name]
			number := func(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Float64 }
			if why := tt.name == "broker" && name == "why"; !why && (!ok || got != kind && !(number(got) && number(kind))) { // brokers/{name} adds why
				t.Errorf("%s: %s is read as %v, written as %v", tt.name, name, kind, got)
			}
		}
	}
}
