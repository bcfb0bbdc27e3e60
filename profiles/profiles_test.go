package profiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEveryProfile also holds that every file is read in full: an unknown key would be an error.
func TestEveryProfile(t *testing.T) {
	want := []string{
		"admin-lists", "apache-route-benchmark", "big-cluster", "broker-flap", "cold-start", "growth", "heartbeat-sweep",
		"many-clients", "mass-death", "misses", "pipelined-read", "register-changed", "register-unchanged",
		"registration-storm", "rocketmq-rust-manifest", "steady-read",
	}
	if got := strings.Join(Names(), " "); got != strings.Join(want, " ") {
		t.Errorf("profiles %s", got)
	}
	seeds := map[uint64]string{}
	for _, name := range Names() {
		p, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := files.ReadFile(name + extension)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: does not begin with a comment", name)
		}
		seed := p.Variants[0].Full.Seed
		if other, taken := seeds[seed]; taken {
			t.Errorf("%s: the seed of %s", name, other)
		}
		seeds[seed] = name
		for _, v := range p.Variants {
			s := v.Smoke
			if took := s.Warmup + s.Quiet + s.Duration; took > time.Second || s.Fleet.FillWithin > time.Second/2 {
				t.Errorf("%s %s: the smoke size measures for %v", name, v.Name, took)
			}
			if s.Clients.Connections > 500 || s.Fleet.Brokers*s.Fleet.Topics > 200_000 {
				t.Errorf("%s %s: the smoke size has %d connections, %d brokers, %d topics", name, v.Name, s.Clients.Connections, s.Fleet.Brokers, s.Fleet.Topics)
			}
			if v.Full.Duration <= s.Duration {
				t.Errorf("%s %s: the full size is no longer than the smoke size", name, v.Name)
			}
		}
	}
}

const small = `
about = "test"
duration = "1s"
fleet.brokers = 2
fleet.topics = 3
clients.connections = 1
clients.mix.route = 1.0
`

func TestVariantAndSmokeLieOverTheWorkload(t *testing.T) {
	p, err := Parse("x", small+`
clients.depth = 4
[[variant]]
name = "one"
[[variant]]
name = "two"
duration = "2s"
fleet.topics = 5
clients.mix = { miss = 2.0 }
[smoke]
duration = "10ms"
fleet.topics = 1
`)
	if err != nil {
		t.Fatal(err)
	}
	one, two := p.Variants[0], p.Variants[1]
	if one.Full.Fleet.Topics != 3 || one.Full.Duration != time.Second || one.Full.Clients.Mix != (Mix{Route: 1}) {
		t.Errorf("variant one %+v", one.Full)
	}
	if two.Full.Fleet.Topics != 5 || two.Full.Fleet.Brokers != 2 || two.Full.Duration != 2*time.Second || two.Full.Clients.Mix != (Mix{Route: 1, Miss: 2}) {
		t.Errorf("variant two %+v", two.Full)
	}
	for _, v := range p.Variants {
		if v.Smoke.Fleet.Topics != 1 || v.Smoke.Duration != 10*time.Millisecond || v.Smoke.Clients.Mix != v.Full.Clients.Mix || v.Smoke.Clients.Depth != 4 {
			t.Errorf("smoke of %s %+v", v.Name, v.Smoke)
		}
	}
}

func TestDefaults(t *testing.T) {
	p, err := Parse("x", small)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Variants) != 1 || p.Variants[0].Name != "" || p.Name != "x" || p.About != "test" {
		t.Errorf("%+v", p)
	}
	w := p.Variants[0].Full
	if w != p.Variants[0].Smoke || w.Seed != 1 || w.Clients.Header != JSON || w.Clients.Depth != 1 || w.Clients.Version != 513 || w.Fleet.Queues != 8 || w.Fleet.Release != 5 {
		t.Errorf("%+v", w)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"not TOML", "about = ", "x: toml: line 1"},
		{"no about", "duration = \"1s\"", "x: about: missing"},
		{"unknown key", small + "colour = 1", "colour: unknown key"},
		{"unknown key of a table", small + "[fleet.death]\nbroker = 1", "fleet.death.broker: unknown key"},
		{"unknown key of a variant", small + "[[variant]]\nname = \"a\"\nclients.conns = 1", "variant.clients.conns: unknown key"},
		{"unknown key of smoke", small + "[smoke]\nbrokers = 1", "smoke.brokers: unknown key"},
		{"wrong type", small + "seed = \"a\"", "incompatible types"},
		{"not a duration", small + "warmup = \"3 s\"", "warmup"},
		{"no duration", "about = \"a\"\n", "duration: 0s"},
		{"negative duration", small + "fleet.heartbeat = \"-1s\"", "fleet.heartbeat: -1s"},
		{"depth", small + "clients.depth = 2000", "clients.depth: 2000, outside 1 to 1024"},
		{"more brokers for a topic than there are", small + "fleet.brokers_per_topic = 3", "fleet.brokers_per_topic: 3, outside 0 to 2"},
		{"release", small + "fleet.release = 3", "fleet.release: 3"},
		{"two ways to register", small + "fleet.register = \"1s\"\nfleet.register_after = \"1s\"", "only one of them"},
		{"change without registrations", small + "fleet.changed = 1", "without fleet.register"},
		{"more changes than topics", small + "fleet.changed = 4\nfleet.register = \"1s\"", "fleet.changed: 4"},
		{"at once without registrations", small + "fleet.at_once = true", "fleet.at_once"},
		{"death of nobody", small + "fleet.death.back = \"1s\"", "fleet.death: without"},
		{"death of too many", small + "fleet.death.brokers = 3", "fleet.death.brokers: 3"},
		{"back after the next end", small + "fleet.death = { brokers = 1, every = \"1s\", back = \"1s\" }", "fleet.death.back: 1s"},
		{"cold and warm", small + "cold = true\nwarmup = \"1s\"", "cold: has neither"},
		{"quiet before nothing", small + "quiet = \"1s\"", "quiet: needs"},
		{"header", small + "clients.header = \"xml\"", `clients.header: "xml"`},
		{"skew", small + "clients.skew = 0.9", "clients.skew: 0.9"},
		{"skew not a number", small + "clients.skew = nan", "clients.skew: NaN"},
		{"rate and depth", small + "clients.rate = 1.0\nclients.depth = 2", "clients.depth: 2, has no meaning"},
		{"negative share", small + "clients.mix.miss = -1.0", "clients.mix: share -1"},
		{"nothing to ask", strings.Replace(small, "route = 1.0", "route = 0.0", 1), "nothing to ask"},
		{"routes of no topic", strings.Replace(small, "topics = 3", "topics = 0", 1), "clients.mix.route: the fleet has no topics"},
		{"variant without a name", small + "[[variant]]\nseed = 2", "variant 1: name"},
		{"variants of one name", small + "[[variant]]\nname = \"a\"\n[[variant]]\nname = \"a\"", "variant 2: name"},
		{"mistake in a variant", small + "[[variant]]\nname = \"a\"\nclients.depth = 0", "variant a: clients.depth: 0"},
		{"mistake at the smoke size", small + "[smoke]\nduration = \"0s\"", "at its smoke size: duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse("x", c.text); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "profiles: x: ") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestLoadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := LoadFile(path); err != nil || p.Name != "mine" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := LoadFile(path + ".absent"); err == nil {
		t.Error("an absent file is no error")
	}
	if _, err := Load("absent"); err == nil || !strings.Contains(err.Error(), "steady-read") {
		t.Errorf("an absent profile: %v; want the list of names", err)
	}
}
