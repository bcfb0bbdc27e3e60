package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/bench"
	"github.com/waymark-mq/waymark/bench/servers"
	"github.com/waymark-mq/waymark/profiles"
)

// request is what the command line asks for.
type request struct {
	profiles []*profiles.Profile
	targets  []target
	loops    int
	pid      int
	runs     int
	smoke    bool
	drivers  int
	jsonFile string
}

// measure runs profiles and writes a report.
func measure(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stdout, usage)
		return usageError{errors.New("no -profile")}
	}
	r, list, err := readRequest(args, stdout)
	if err != nil {
		return err
	}
	if list {
		return listProfiles(stdout)
	}
	return r.run(ctx, stdout, stderr)
}

func listProfiles(stdout io.Writer) error {
	for _, name := range profiles.Names() {
		p, err := profiles.Load(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%-24s %s\n", name, p.About)
		for _, v := range p.Variants {
			if v.Name != "" {
				fmt.Fprintf(stdout, "%-24s   %s\n", "", v.Name)
			}
		}
	}
	return nil
}

// readRequest reads the flags of a measurement; list asks for the profiles instead.
func readRequest(args []string, stdout io.Writer) (r *request, list bool, err error) {
	flags := flag.NewFlagSet("nsload", flag.ContinueOnError)
	r = &request{}
	var names, targets []string
	add := func(to *[]string) func(string) error {
		return func(s string) error {
			*to = append(*to, s)
			return nil
		}
	}
	flags.BoolVar(&list, "list", false, "show the profiles and their variants")
	flags.Func("profile", "`profile` by name, or a file that ends in .toml; may be repeated; all: every one", add(&names))
	flags.Func("server", "`server` to put the load on, see above; may be repeated (default waymark)", add(&targets))
	variants := flags.String("variant", "", "only variants whose name matches the `regexp`")
	flags.IntVar(&r.loops, "loops", 1, "event loops of waymark and floor")
	flags.IntVar(&r.pid, "pid", 0, "`process` of a server that runs already, for its CPU time and memory")
	flags.IntVar(&r.runs, "runs", 1, "rounds; the table has medians")
	flags.BoolVar(&r.smoke, "smoke", false, "the profiles' smoke sizes: shows that it works, not how fast")
	flags.StringVar(&r.jsonFile, "json", "", "append every result to the `file`, a line of JSON each")
	flags.IntVar(&r.drivers, "drivers", 1, "goroutines that write and read for the clients; more only where they have cores of their own")
	change := overrides(flags)
	if err := parse(flags, args, stdout); err != nil {
		return nil, false, err
	}
	if list {
		return nil, true, nil
	}
	if flags.NArg() > 0 {
		return nil, false, usageError{fmt.Errorf("%q: neither a flag nor a subcommand", flags.Arg(0))}
	}
	if r.loops < 1 || r.runs < 1 || r.drivers < 1 || r.pid < 0 {
		return nil, false, usageError{errors.New("-loops, -runs and -drivers are at least 1, -pid is a process")}
	}
	wanted, err := regexp.Compile(*variants)
	if err != nil {
		return nil, false, usageError{err}
	}
	if err := r.readTargets(targets); err != nil {
		return nil, false, usageError{err}
	}
	if err := r.readProfiles(names, wanted, change); err != nil {
		return nil, false, usageError{err}
	}
	return r, false, nil
}

// overrides adds flags that change a workload; the function that it returns applies those which were given.
func overrides(flags *flag.FlagSet) func(*profiles.Workload) error {
	var changes []func(*profiles.Workload)
	override := func(name, text string, set func(w *profiles.Workload, value string) error) {
		flags.Func(name, text, func(value string) error {
			if err := set(new(profiles.Workload), value); err != nil {
				return err
			}
			changes = append(changes, func(w *profiles.Workload) { _ = set(w, value) }) // tried above
			return nil
		})
	}
	scan := func(into func(w *profiles.Workload) any) func(*profiles.Workload, string) error {
		return func(w *profiles.Workload, value string) error {
			if n, err := fmt.Sscanf(value+"\n", "%v\n", into(w)); n != 1 || err != nil {
				return fmt.Errorf("%q is no number", value)
			}
			return nil
		}
	}
	override("seed", "another `seed`", scan(func(w *profiles.Workload) any { return &w.Seed }))
	override("connections", "another `number` of connections", scan(func(w *profiles.Workload) any { return &w.Clients.Connections }))
	override("depth", "another `number` of requests in flight on a connection", scan(func(w *profiles.Workload) any { return &w.Clients.Depth }))
	override("rate", "another `number` of requests per second; 0: as fast as they are answered", scan(func(w *profiles.Workload) any { return &w.Clients.Rate }))
	override("brokers", "another `number` of brokers", scan(func(w *profiles.Workload) any { return &w.Fleet.Brokers }))
	override("topics", "another `number` of topics", scan(func(w *profiles.Workload) any { return &w.Fleet.Topics }))
	override("header", "another `form` of header: json or rocketmq", func(w *profiles.Workload, value string) error {
		w.Clients.Header = profiles.Header(value)
		return nil
	})
	span := func(name, text string, into func(w *profiles.Workload) *time.Duration) {
		override(name, text, func(w *profiles.Workload, value string) (err error) {
			*into(w), err = time.ParseDuration(value)
			return err
		})
	}
	span("duration", "another `time` of the measured phase", func(w *profiles.Workload) *time.Duration { return &w.Duration })
	span("warmup", "another `time` of the warm-up", func(w *profiles.Workload) *time.Duration { return &w.Warmup })
	span("quiet", "another `time` of the quiet phase", func(w *profiles.Workload) *time.Duration { return &w.Quiet })
	return func(w *profiles.Workload) error {
		for _, change := range changes {
			change(w)
		}
		return w.Validate()
	}
}

func (r *request) readTargets(texts []string) error {
	if len(texts) == 0 {
		texts = []string{"waymark"}
	}
	seen := map[string]bool{}
	for _, text := range texts {
		t, err := parseTarget(text)
		if err != nil {
			return err
		}
		if seen[t.name] {
			return fmt.Errorf("-server %s: another one is called %s; give it a name=", text, t.name)
		}
		seen[t.name] = true
		r.targets = append(r.targets, t)
	}
	return nil
}

func (r *request) readProfiles(names []string, wanted *regexp.Regexp, change func(*profiles.Workload) error) error {
	if len(names) == 1 && names[0] == "all" {
		names = profiles.Names()
	}
	if len(names) == 0 {
		return errors.New("no -profile; -list shows them")
	}
	for _, name := range names {
		load := profiles.Load
		if strings.HasSuffix(name, ".toml") {
			load = profiles.LoadFile
		}
		p, err := load(name)
		if err != nil {
			return err
		}
		var chosen []profiles.Variant
		for _, v := range p.Variants {
			if !wanted.MatchString(v.Name) {
				continue
			}
			if err := errors.Join(change(&v.Full), change(&v.Smoke)); err != nil {
				return fmt.Errorf("%s %s: %w", name, v.Name, err)
			}
			chosen = append(chosen, v)
		}
		if len(chosen) == 0 {
			return fmt.Errorf("%s: no variant matches %q", name, wanted)
		}
		p.Variants = chosen
		r.profiles = append(r.profiles, p)
	}
	return nil
}

// run measures and reports. What was measured before something failed is reported too.
func (r *request) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "nsload-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	shop := &workshop{dir: dir, loops: r.loops, pid: r.pid}
	var list []*servers.Server
	for i := range r.targets {
		s, err := shop.server(ctx, &r.targets[i])
		if err != nil {
			return err
		}
		list = append(list, s)
	}
	var results []*bench.Result
	faults := 0
	keep := func(result *bench.Result) error {
		results = append(results, result)
		faults += len(result.Faults())
		fmt.Fprintln(stderr, progress(result))
		return r.append(result)
	}
	machine := bench.ThisMachine()
	for _, p := range r.profiles {
		c := bench.Comparison{
			Profile: p.Name, Variants: p.Variants, Servers: list, Rounds: r.runs, Smoke: r.smoke,
			Options: bench.Options{Drivers: r.drivers}, Machine: machine, Done: keep,
		}
		if err = c.Run(ctx); err != nil {
			break
		}
	}
	if reported := bench.Report(stdout, results); err == nil {
		err = reported
	}
	if err == nil && faults > 0 {
		err = fmt.Errorf("%d faults, see the report", faults)
	}
	return err
}

func (r *request) append(result *bench.Result) error {
	if r.jsonFile == "" {
		return nil
	}
	f, err := os.OpenFile(r.jsonFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(bench.WriteResult(f, result), f.Close())
}

// progress is a line for whoever waits.
func progress(r *bench.Result) string {
	line := fmt.Sprintf("%s, round %d, %s: ", strings.TrimSpace(r.Profile+" "+r.Variant), r.Round+1, r.Server)
	if n := r.Measured.Answered; n > 0 {
		line += fmt.Sprintf("%d queries, p99 %v, ", n, r.Clients.Measured.Latency.P99)
	}
	if n := r.Measured.Registered; n > 0 {
		line += fmt.Sprintf("%d registrations, ", n)
	}
	line += fmt.Sprintf("%v of CPU", r.Measured.CPU.Round(time.Microsecond))
	for _, f := range r.Faults() {
		line += "; " + f
	}
	return line
}
