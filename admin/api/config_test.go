package api

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A setting says whether a change of it needs a restart, and until then what the server works with; so does the event of the change.
func TestConfigSaysWhatNeedsARestart(t *testing.T) {
	f := start(t, func(c *settings.Settings) { c.AdminAllowList = "127.0.0.1" })
	type entry struct {
		Value        string
		NeedsRestart bool
		Running      *string
	}
	config := func() map[string]entry {
		var got struct {
			Config []struct {
				Key string
				entry
			}
		}
		f.get(200, "config", &got)
		entries := map[string]entry{}
		for _, e := range got.Config {
			entries[e.Key] = e.entry
		}
		return entries
	}
	before := config()
	for key, want := range map[string]bool{
		"enableTopicList": false, "listenPort": true, "serverSocketSndBufSize": true, "kvConfigPath": true, "serverChannelMaxIdleTimeSeconds": false,
	} {
		if e, ok := before[key]; !ok || e.NeedsRestart != want || e.Running != nil {
			t.Errorf("%s: %+v, listed %v", key, e, ok)
		}
	}
	f.dial().ask(codec.ResponseSuccess, codec.RequestUpdateNamesrvConfig, "enableTopicList=false\nserverSocketSndBufSize=70000\nlogMaxBackups=7\n")
	after := config()
	if e := after["enableTopicList"]; e.Value != "false" || e.Running != nil {
		t.Errorf("%+v", e)
	}
	for key, value := range map[string]string{"serverSocketSndBufSize": "70000", "logMaxBackups": "7"} {
		if e := after[key]; e.Value != value || !e.NeedsRestart || e.Running == nil || *e.Running == value {
			t.Errorf("%s: %+v", key, e)
		}
	}
	var events struct {
		Events []struct {
			Key          string
			NeedsRestart bool
		}
	}
	f.get(200, "events?kind=config_changed", &events)
	got := map[string]bool{}
	for _, e := range events.Events {
		got[e.Key] = e.NeedsRestart
	}
	if len(got) != 3 || got["enableTopicList"] || !got["serverSocketSndBufSize"] || !got["logMaxBackups"] {
		t.Errorf("%+v", events)
	}
}
