package core_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/waymark-mq/waymark/core"
)

// TestScripts runs testdata/scripts: commands, and below each after ---- what it
// came to. go test ./core -run TestScripts -rewrite records what the table says
// now; read the difference before it is kept.
//
// A broker is written cluster/name#id@address; a connection is a name, made at
// its first use. A broker that names none has one of its own, named as its
// address. Each file starts with an empty table and Apache's default settings.
//
// Commands that change the table print the answer, then what is to be logged,
// closed and sent:
//
//	register BROKER TOPIC… [sv=N] [n=N] [only] [conn=NAME] [ha=ADDR] [timeout=MILLIS]
//	         [acting | acting=false] [zone=NAME] [filters=(ADDR,…)] [mapping=(TOPIC[@EPOCH],…)]
//	    103. A topic is NAME[/qQUEUES][/pPERM], 4 and 6 by default. sv and n are the
//	    DataVersion's stateVersion and counter, 0 and 1 by default. A topic "pad" goes
//	    with the named ones unless "only" is said. JSON below the command is the body.
//	unregister BROKER                     104
//	heartbeat BROKER [conn=NAME]          904; no id needed, nor in version
//	version BROKER [sv=N] [n=N] [conn=NAME]   322
//	close NAME                            the connection ends
//	tick DURATION                         time passes, then expiry is looked for
//	wipe NAME, add NAME                   205, 327: write permission of a broker name
//	delete TOPIC [CLUSTER]                216
//	puttopic TOPIC NAME[/qN][/pN]…        217, queues of these broker names
//	putkv NAMESPACE KEY VALUE, deletekv NAMESPACE KEY   100, 102
//	settings NAME=VALUE…                  318
//	burst                                 the commands below it, applied in one step
//	restart                               an empty table with the same settings
//
// Commands that read:
//
//	route TOPIC [zone=NAME]   105, one line a broker: name{id=address …} read/write/perm/flags cluster
//	routes TOPIC zone=NAME    105 as sent in the legacy and the standard form and
//	                          filtered by zone, and whether each differs from the routes before
//	clusters                  106, one line a broker and one a cluster
//	members NAME              901
//	topics [CLUSTER]          206, 224
//	live                      how many brokers have a liveness entry
//	suspects                  who is held by the expiry guard
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := &script{receiver: newReceiver(core.DefaultSettings())}
			datadriven.RunTest(t, file, s.run)
		})
	}
}

// script is one script under way.
type script struct {
	*receiver
	lastRoutes map[string]string // by form
}

// run runs one command of a script and returns what it came to.
func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	text, err := s.command(d)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return text
}

func (s *script) command(d *datadriven.TestData) (string, error) {
	line := scriptLine{cmd: d.Cmd, args: d.CmdArgs, input: d.Input}
	switch d.Cmd {
	case "burst":
		return s.burst(d.Input)
	case "restart":
		s.receiver = newReceiver(s.Settings())
		return "", nil
	case "tick":
		return s.tick(line.word(0))
	case "heartbeat":
		return s.heartbeat(&line)
	}
	if text, ok, err := s.read(&line); ok || err != nil {
		return text, err
	}
	return s.change([]scriptLine{line})
}

// burst applies the commands of its input in one step.
func (s *script) burst(input string) (string, error) {
	var lines []scriptLine
	for text := range strings.Lines(input) {
		cmd, args, err := datadriven.ParseLine(text)
		if err != nil {
			return "", err
		}
		lines = append(lines, scriptLine{cmd: cmd, args: args})
	}
	return s.change(lines)
}

// change applies commands in one step.
func (s *script) change(lines []scriptLine) (string, error) {
	var batch []core.Command
	for i := range lines {
		c, err := s.parse(&lines[i])
		if err != nil {
			return "", fmt.Errorf("%s: %w", lines[i].cmd, err)
		}
		batch = append(batch, c)
	}
	var results []core.Result
	results, s.effects = s.Step(s.now, batch)
	var b strings.Builder
	for i, c := range batch {
		b.WriteString(s.resultText(c, &results[i]))
	}
	b.WriteString(s.effectText())
	return b.String(), nil
}

func (s *script) tick(by string) (string, error) {
	d, err := time.ParseDuration(by)
	if err != nil {
		return "", err
	}
	s.now += int64(d)
	s.do(&core.Tick{})
	return s.effectText(), nil
}

func (s *script) heartbeat(line *scriptLine) (string, error) {
	b, err := line.broker()
	if err != nil {
		return "", err
	}
	if s.Touch(s.conn(line.option("conn", b.addr)), b.cluster, b.addr, s.now) {
		return "known", nil
	}
	return "unknown", nil
}
