package harness

import "testing"

func TestNormalise(t *testing.T) {
	n := NewNormaliser(
		&Nameserver{Addr: "127.0.0.1:21692", Dir: "/tmp/a/nameserver"},
		&Broker{Addr: "127.0.0.1:28388", Dir: "/tmp/a/broker", port: 28388},
		"/tmp/a/tool",
	)
	for _, c := range []struct {
		name, in string
		rules    []Rule
		want     string
	}{
		{"addresses", "create topic to 127.0.0.1:28388 by 127.0.0.1:21692", nil, "create topic to <broker> by <nameserver>"},
		{"a client's address", "bornHost=/127.0.0.1:1", nil, "bornHost=/<client>"},
		{"paths and ports", "kvConfigPath  =  /tmp/a/nameserver/kv.json\nlistenPort  =  21692\nlistenPort =  28388\nhaListenPort = 28389\n", nil,
			"kvConfigPath = <home>/kv.json\nlistenPort = <port>\nlistenPort = <broker port>\nhaListenPort = <broker HA port>"},
		{"columns", "a\t  b \n  c", nil, "a b\nc"},
		{"measured columns", "Default  broker-9  0  127.0.0.1:28388  V5_5_0   99.47(0,0ms)  0-0(0.0w, 0.0, 0.0)  0.1400  true", nil,
			"Default broker-9 0 <broker> V5_5_0 #(#,#ms) #-#(#w, #, #) # true"},
		{"other numbers stay", `"perm":6 12 -1`, nil, `"perm":6 12 -1`},
		{"times", "2026-11-29 18:10:17,582 or 2026-11-29#18:10:17:582 or 1795976030313", nil, "<time> or <time> or <milliseconds>"},
		{"exceptions", "E: no\n\tat a.B.c(B.java:1)\n\tat java.base/d.E.f(Native Method)\n\t... 7 more\nend", nil, "E: no\nend"},
		{"messages", "7F00000100002A9F00000000000000F6@246 commitLogOffset=246, queueOffset=1", nil,
			"<message>@<offset> commitLogOffset=<offset>, queueOffset=1"},
		{"clients", "172.17.0.2@12345#678901234 172.17.0.2@MonitorService_-123", nil, "<client id> <client id>"},
		{"rates", "Topic Put TPS: 0.15\nrt=4ms", nil, "Topic Put TPS: #\nrt=#ms"},
		{"order stays", "b\na", nil, "b\na"},
		{"order goes", "b\na", []Rule{Sorted}, "a\nb"},
		{"some lines", "#a\nb\na b", []Rule{Lines(`^(#|a)`)}, "#a\na b"},
		{"distinct lines", "a\na\nb\na", []Rule{Distinct}, "a\nb\na"},
		{"keys", "putTps  : 0.1 0.2\n\"size\":\"3\",\nboot time: now", []Rule{Keys}, "putTps\n\"size\"\nboot time"},
		{"numbers", "broker-a  0  true  -3\nAvg: 4.00 V5 x2", []Rule{Numbers}, "broker-a # true #\nAvg: # V5 x2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := n.Normalise(c.in, c.rules...); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
