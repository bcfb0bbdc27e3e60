//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// Requests about the KV table and the settings.
const (
	putKV          = 100
	deleteKV       = 102
	listKV         = 219
	updateSettings = 318
	getSettings    = 319
)

// kvTable is namespace → key → value.
type kvTable map[string]map[string]string

// TestFilesChangeHands: a nameserver starts on the KV file and on the properties file that another program or another
// version wrote, knows all that was in them, and writes them for the next.
func TestFilesChangeHands(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		own, middle, old := programOf(t, nameserver), apacheProgram(t, middleVersion), apacheProgram(t, oldVersion)
		chain := []harness.Program{own, middle, old, own}
		if nameserver == waymark {
			chain = []harness.Program{own, apacheProgram(t, currentVersion), own, middle, own, old, own}
		}
		inMatrix(t, nameserver, "Apache's nameserver", currentVersion+", "+middleVersion+", "+oldVersion,
			"kvConfig.json and the properties file change hands, there and back")
		const ownKey = "brokerCloseGraceMillis" // a key of Waymark, which Apache keeps
		n := newNameserver(t, chain[0], ownKey+"=1500")
		kv, settings := seedKV(), map[string]string{ownKey: "1500"}
		for namespace, entries := range kv {
			putAll(t, n, namespace, entries)
		}
		for i, program := range chain {
			if i > 0 {
				changeHands(t, n, program)
			}
			checkKV(t, n, kv)
			checkSettings(t, n, settings)
			if i < len(chain)-1 {
				changeKV(t, n, kv, i)
				changeSettings(t, n, settings, i)
			}
		}
	})
}

func changeHands(t *testing.T, n *harness.Nameserver, to harness.Program) {
	t.Helper()
	from := n.Program()
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	n.Switch(to)
	if err := n.Start(); err != nil {
		t.Fatalf("files of %s %s don't load in %s %s: %v", from.Name, from.Version, to.Name, to.Version, err)
	}
}

// seedKV has what a JSON writer may get wrong, and many namespaces.
func seedKV() kvTable {
	kv := kvTable{
		"ORDER_TOPIC_CONFIG": {"OrderTopic": "broker-a:4;broker-b:4"},
		`"quoted" \ name`:    {`key "1"`: `say "hi" \ / 'there' </script>`, "tab\tkey": "two\r\nlines\tand \u0001 \u007f \u2028"},
		"名前空間":               {"ключ": "größer 漢字 🚀", "blank": " ", "empty": ""},
		"looks like JSON":    {"configTable": `{"configTable":{"a":"b"}}`, "null": "null", "number": "1"},
	}
	for i := range 50 {
		kv[fmt.Sprintf("namespace-%02d", i)] = map[string]string{"key.a": fmt.Sprint(i), "key.b": strings.Repeat("v", 100*i)}
	}
	return kv
}

func putAll(t *testing.T, n *harness.Nameserver, namespace string, entries map[string]string) {
	t.Helper()
	for key, value := range entries {
		request(t, n, putKV, map[string]string{"namespace": namespace, "key": key, "value": value}, nil)
	}
}

// request fails the test unless it is answered with success, and returns the body of the answer.
func request(t *testing.T, n *harness.Nameserver, code int, fields map[string]string, body []byte) (answer []byte) {
	t.Helper()
	err := n.Ask(func(a *harness.Asker) error {
		got, err := a.AskWithBody(code, fields, body)
		if err == nil && got.Code != 0 {
			err = fmt.Errorf("answered %d, %q", got.Code, got.Remark)
		}
		if err == nil {
			answer = got.Body
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s %s: request %d %v: %v", n.Program().Name, n.Program().Version, code, fields, err)
	}
	return answer
}

func checkKV(t *testing.T, n *harness.Nameserver, want kvTable) {
	t.Helper()
	for namespace, entries := range want {
		var got struct{ Table map[string]string }
		body := request(t, n, listKV, map[string]string{"namespace": namespace}, nil)
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s %s: namespace %q: %v in %q", n.Program().Name, n.Program().Version, namespace, err, body)
		}
		if !maps.Equal(got.Table, entries) {
			t.Errorf("%s %s: namespace %q holds %q, want %q", n.Program().Name, n.Program().Version, namespace, got.Table, entries)
		}
	}
}

// changeKV adds, replaces and removes, so that each program's own writing is what the next one reads.
func changeKV(t *testing.T, n *harness.Nameserver, kv kvTable, round int) {
	t.Helper()
	added := map[string]string{"written by": n.Program().Name + n.Program().Version, "größe": "\"漢字\" \\ 🚀"}
	kv[fmt.Sprintf("round %d", round)] = added
	putAll(t, n, fmt.Sprintf("round %d", round), added)
	replaced := map[string]string{"key.a": fmt.Sprintf("replaced in round %d", round)}
	kv["namespace-01"]["key.a"] = replaced["key.a"]
	putAll(t, n, "namespace-01", replaced)
	emptied := fmt.Sprintf("namespace-%02d", 10+round)
	for key := range kv[emptied] {
		request(t, n, deleteKV, map[string]string{"namespace": emptied, "key": key}, nil)
	}
	kv[emptied] = map[string]string{}
}

func checkSettings(t *testing.T, n *harness.Nameserver, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for line := range strings.Lines(string(request(t, n, getSettings, nil, nil))) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		got[key] = value
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s %s: %s is %q, want %q", n.Program().Name, n.Program().Version, key, got[key], value)
		}
	}
}

// changeSettings gives other values to settings that both generations have.
func changeSettings(t *testing.T, n *harness.Nameserver, settings map[string]string, round int) {
	t.Helper()
	settings["serverChannelMaxIdleTimeSeconds"] = fmt.Sprint(110 + round)
	settings["orderMessageEnable"] = fmt.Sprint(round%2 == 0)
	settings["productEnvName"] = fmt.Sprintf(`unit %d: a = "b" #c !d`, round)
	text := settings["productEnvName"]
	if n.Program().Name == waymark {
		// Apache writes a value as it is, and reads the escapes of a properties file: its own file loses these.
		settings["productEnvName"] += ` größer C:\new`
		text += ` gr\u00f6\u00dfer C:\\new`
	}
	body := fmt.Sprintf("serverChannelMaxIdleTimeSeconds=%s\norderMessageEnable=%s\nproductEnvName=%s\n",
		settings["serverChannelMaxIdleTimeSeconds"], settings["orderMessageEnable"], text)
	request(t, n, updateSettings, nil, []byte(body))
}
