package harness

import "testing"

func TestNormalise(t *testing.T) {
	n := NewNormaliser(
		&Nameserver{Addr: "127.0.0.1:21692", Dir: "/tmp/a/nameserver"},
		&Broker{Addr: "127.0.0.1:28388"},
	)
	for _, c := range []struct {
		name, in  string
		unordered bool
		want      string
	}{
		{"addresses", "create topic to 127.0.0.1:28388 by 127.0.0.1:21692", false, "create topic to <broker> by <nameserver>"},
		{"path and port", "kvConfigPath  =  /tmp/a/nameserver/namesrv/kv.json\nlistenPort =  21692\n", false,
			"kvConfigPath = <home>/namesrv/kv.json\nlistenPort = <port>"},
		{"measured columns only", "Default  broker-9  0  127.0.0.1:28388  V5_5_0   99.47(0,0ms)  0-0(0.0w, 0.0, 0.0)  0.1400  true", false,
			"Default broker-9 0 <broker> V5_5_0 #(#,#ms) #-#(#w, #, #) # true"},
		{"other numbers stay", `"perm":6`, false, `"perm":6`},
		{"order stays", "b\na", false, "b\na"},
		{"order goes", "b\na", true, "a\nb"},
		{"address of somebody else stays", "127.0.0.1:1", false, "127.0.0.1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := n.Normalise(c.in, c.unordered); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
