package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// peerLimit is more than such a program gives itself.
const peerLimit = 5 * time.Minute

// Peer is a client program in another language than Java. Its sources are in a folder below e2e/peers, with files that
// pin its library. It is fetched and built once, in a copy in the cache, by its language's own package client, and
// runs from there.
//
// In a command line, a word that begins with "./" is a path in the copy; other commands are looked for on the path.
type Peer struct {
	Name       string
	Version    string // of the client library
	NeedsTopic bool   // the client doesn't ask the broker to create a topic that has no route

	folder  string
	variant string     // tells two builds of one version apart in the cache
	files   []string   // all that the copy is made from; the first pins the version
	tool    []string   // command line that shows that the tool is there, and says which
	build   [][]string // command lines, run in the copy
	start   []string   // command line; the program's arguments follow

	prepared func() (dir string, err error) // the copy, made by the first call
}

// OtherLanguages are the client programs in other languages than Java.
func OtherLanguages(moduleRoot string) []*Peer {
	peers := []*Peer{
		goClient("2.1.2", "go.mod", "go.sum"),
		newestGoClient(),
		pythonClient(),
		nodeClient(),
	}
	for _, p := range peers {
		if p.folder == "go" {
			p.start = append(p.start, "roundtrip")
		}
		p.place(filepath.Join(moduleRoot, "e2e", "peers"))
	}
	return peers
}

// goClient is a program of several tasks: see peers/go/main.go.
func goClient(version, mod string, files ...string) *Peer {
	return &Peer{
		Name: "Go client", Version: version,
		folder: "go", files: slices.Concat([]string{mod}, goSources, files),
		tool: []string{"go", "version"},
		// With osusergo the user's home, where the client keeps what an address server said, is HOME.
		build: [][]string{{"go", "build", "-buildvcs=false", "-tags=osusergo", "-modfile=" + mod, "-o", "client", "."}},
		start: []string{"./client"},
	}
}

var goSources = []string{"main.go", "resolver.go", "roundtrip.go", "fleet.go", "routes.go"}

func newestGoClient() *Peer {
	return goClient("2.1.3-0.20251226070945-2173d070fd1b", "newest.mod", "newest.sum", "go.mod")
}

// NewestGoClient is the Go client of the newest version, for any of its tasks.
func NewestGoClient(moduleRoot string) *Peer {
	p := newestGoClient()
	p.place(filepath.Join(moduleRoot, "e2e", "peers"))
	return p
}

// RacingGoClient is NewestGoClient built to report data races; that needs a C compiler.
func RacingGoClient(moduleRoot string) *Peer {
	p := newestGoClient()
	p.tool = []string{"sh", "-c", "go version && cc --version"}
	p.build[0] = slices.Insert(p.build[0], 2, "-race")
	p.variant = "-race"
	p.place(filepath.Join(moduleRoot, "e2e", "peers"))
	return p
}

// pythonClient is the C++ client as a Python package brings it.
func pythonClient() *Peer {
	return &Peer{
		Name: "Python client (C++ core)", Version: "0.4.4",
		folder: "python", files: []string{"requirements.txt", "roundtrip.py"},
		// Debian's interpreter comes without what makes an environment.
		tool: []string{"python3", "-c", "import ensurepip, sys; print(sys.version)"},
		build: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"./venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"},
		},
		start: []string{"./venv/bin/python", "./roundtrip.py"},
	}
}

func nodeClient() *Peer {
	return &Peer{
		Name: "Node client (ali-ons)", Version: "3.12.0", NeedsTopic: true,
		folder: "node", files: []string{"package.json", "package-lock.json", "roundtrip.js"},
		tool:  []string{"node", "--version"},
		build: [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}},
		start: []string{"node", "--max-old-space-size=256", "./roundtrip.js"},
	}
}

// place tells the peer where its folder is.
func (p *Peer) place(peers string) {
	cacheName := p.folder + "-" + p.Version + p.variant
	p.folder = filepath.Join(peers, p.folder)
	p.prepared = sync.OnceValues(func() (string, error) { return p.prepare(cacheName) })
}

// Prepare fetches and builds the program if the cache doesn't have it. ErrToolMissing says that this machine can't.
func (p *Peer) Prepare() error {
	_, err := p.prepared()
	return err
}

func (p *Peer) prepare(cacheName string) (dir string, err error) {
	version, err := p.toolVersion()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	digest, err := digestOf(p.folder, p.files...)
	if err != nil {
		return "", err
	}
	// What a tool has built need not work with another version of the tool.
	return cachedDir(cache, cacheName, digest+" "+version, func(dir string) error {
		if err := copyFiles(p.folder, dir, p.files...); err != nil {
			return err
		}
		for _, line := range p.build {
			cmd, err := commandLine(context.Background(), dir, line)
			if err != nil {
				return err
			}
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("harness: %s: %s: %w\n%s", p.Name, strings.Join(line, " "), err, out)
			}
		}
		return nil
	})
}

func (p *Peer) toolVersion() (string, error) {
	cmd, err := commandLine(context.Background(), "", p.tool)
	if err != nil {
		return "", err
	}
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrToolMissing, strings.Join(p.tool, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Run prepares the program and runs it to its end, with home as its home and working folder, and returns its standard
// output. An exit status other than 0 is an error that carries both outputs.
func (p *Peer) Run(home string, args ...string) (string, error) {
	dir, err := p.prepared()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), peerLimit)
	defer cancel()
	cmd, err := commandLine(ctx, dir, slices.Concat(p.start, args))
	if err != nil {
		return "", err
	}
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
	cmd.SysProcAttr = dieWithParent()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("harness: %s %s: %w\n%s%s", p.Name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// StartSession prepares the program and starts it, to be told commands as lines. Its home and working folder is home.
func (p *Peer) StartSession(home string, args ...string) (*Session, error) {
	dir, err := p.prepared()
	if err != nil {
		return nil, err
	}
	cmd, err := commandLine(context.Background(), dir, slices.Concat(p.start, args))
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home)
	return startSession(p.Name, home, cmd)
}

// commandLine makes a command of a peer's command line. The command is killed when ctx ends.
func commandLine(ctx context.Context, dir string, line []string) (*exec.Cmd, error) {
	words := make([]string, len(line))
	for i, word := range line {
		words[i] = word
		if path, ok := strings.CutPrefix(word, "./"); ok {
			words[i] = filepath.Join(dir, path)
		}
	}
	if !filepath.IsAbs(words[0]) {
		tool, err := findTool(words[0])
		if err != nil {
			return nil, err
		}
		words[0] = tool
	}
	return exec.CommandContext(ctx, words[0], words[1:]...), nil
}
