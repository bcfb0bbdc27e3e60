package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/waymark-mq/waymark/bench/servers"
)

// Heaps of Apache's nameserver in MiB unless told otherwise.
const (
	apacheHeap      = 1024
	apacheTunedHeap = 256
)

// target is a -server as it was written.
type target struct {
	kind    string // a key of targetOptions, or an address
	name    string
	bin     string
	numbers map[string]int // loops, pid, size, heap, as far as they are given
}

var targetOptions = map[string][]string{
	"waymark": {"loops", "bin"}, "floor": {"loops", "size"}, "apache": {"heap"}, "apache-tuned": {"heap"},
	"rust": {"bin"}, "rust-tuned": {"bin"}, "": {"pid"},
}

// parseTarget reads KIND[,key=value]...
func parseTarget(text string) (target, error) {
	words := strings.Split(text, ",")
	t := target{kind: words[0], name: words[0], numbers: map[string]int{}}
	allowed, known := targetOptions[t.kind]
	if !known {
		if _, _, err := net.SplitHostPort(t.kind); err != nil {
			return t, fmt.Errorf("-server %s: neither waymark, floor, apache, apache-tuned, rust, rust-tuned nor host:port", text)
		}
		allowed = targetOptions[""]
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		switch {
		case key == "name" && value != "":
			t.name = value
		case !contains(allowed, key):
			return t, fmt.Errorf("-server %s: %q is no option of it; those are name, %s", text, key, strings.Join(allowed, ", "))
		case key == "bin" && value != "":
			t.bin = value
		case key != "bin" && err == nil && n > 0:
			t.numbers[key] = n
		default:
			return t, fmt.Errorf("-server %s: %q", text, word)
		}
	}
	return t, nil
}

func contains(list []string, s string) bool {
	for _, other := range list {
		if other == s {
			return true
		}
	}
	return false
}

func (t *target) number(key string, otherwise int) int {
	if n, ok := t.numbers[key]; ok {
		return n
	}
	return otherwise
}

// workshop is where programs that servers need are made: each once, and all gone at the end.
type workshop struct {
	dir         string
	loops, pid  int // unless a target says otherwise
	waymarkPath string
}

// server makes what a target names.
func (w *workshop) server(ctx context.Context, t *target) (s *servers.Server, err error) {
	switch t.kind {
	case "waymark":
		bin := t.bin
		if bin == "" {
			bin, err = w.waymark()
		}
		s = servers.Waymark(bin, t.number("loops", w.loops))
	case "floor":
		var self string
		self, err = os.Executable()
		s = servers.Floor(self, t.number("loops", w.loops))
		s.AnswerSize = t.number("size", 0)
	case "apache", "apache-tuned":
		var root string
		if root, err = servers.ModuleRoot(); err != nil {
			return nil, err
		}
		if t.kind == "apache" {
			s, err = servers.Apache(root, t.number("heap", apacheHeap))
		} else {
			s, err = servers.ApacheTuned(ctx, root, w.dir, t.number("heap", apacheTunedHeap))
		}
	case "rust", "rust-tuned":
		s, err = servers.Rust(t.bin, t.kind == "rust-tuned")
	default:
		s = servers.External(t.name, t.kind, t.number("pid", w.pid))
	}
	if err != nil {
		return nil, err
	}
	s.Name = t.name
	return s, nil
}

// waymark is the program of this checkout's nameserver.
func (w *workshop) waymark() (string, error) {
	if w.waymarkPath != "" {
		return w.waymarkPath, nil
	}
	root := ""
	if os.Getenv("WAYMARK_BIN") == "" {
		var err error
		if root, err = servers.ModuleRoot(); err != nil {
			return "", err
		}
	}
	var err error
	w.waymarkPath, err = servers.BuildWaymark(root, w.dir)
	return w.waymarkPath, err
}
