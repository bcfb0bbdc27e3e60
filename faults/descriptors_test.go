//go:build faults && linux

package faults

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// TestOutOfDescriptors: short of descriptors the nameserver serves the
// connections it has, still saves what it is told, says that it takes no more
// connections, and takes each of those that wait as soon as others have ended.
func TestOutOfDescriptors(t *testing.T) {
	const (
		descriptors = 64
		early       = 10
		late        = 2 * descriptors
	)
	s := newSite(t)
	s.openDescriptors = descriptors
	p := s.start()
	b := s.register("a", time.Minute)
	var served []*client
	for range early {
		c := s.dial()
		c.want(codec.ResponseSuccess, route("a"))
		served = append(served, c)
	}
	answered, lost := make(chan *client, late), make(chan error, late)
	for range late { // the kernel takes them, whoever comes to accept them
		c := s.dial()
		if err := c.send(route("a")); err != nil {
			t.Fatal(err)
		}
		go func() {
			if a, err := c.next(2 * waitLimit); err != nil || a.Code != codec.ResponseSuccess {
				lost <- fmt.Errorf("answer %+v, error %w", a, err)
				return
			}
			answered <- c
		}()
	}
	waitFor(t, "line about accepting", func() bool { return p.stderr.has("accepting paused") })

	for range 3 {
		for _, c := range served {
			c.want(codec.ResponseSuccess, route("a"))
		}
	}
	put := func(value string) request {
		return ask(codec.RequestPutKVConfig, "namespace", "NS", "key", "k", "value", value)
	}
	get := ask(codec.RequestGetKVConfig, "namespace", "NS", "key", "k")
	c := served[0]
	c.want(codec.ResponseSuccess, put("short")) // some are kept for files
	if v := c.want(codec.ResponseSuccess, get).ExtFields["value"]; v != "short" {
		t.Errorf("value %q, want short", v)
	}

	// Each that leaves makes room for one that waits, until all had their turn.
	for n := range late {
		select {
		case c := <-answered:
			c.close()
		case err := <-lost:
			t.Fatalf("connection %d of %d: %v", n+1, late, err)
		case <-time.After(waitLimit):
			t.Fatalf("only %d of %d connections had their turn", n, late)
		}
	}
	c.want(codec.ResponseSuccess, put("again"))
	if v := c.want(codec.ResponseSuccess, get).ExtFields["value"]; v != "again" {
		t.Errorf("value %q", v)
	}
	if n := strings.Count(p.stderr.String(), "accepting paused"); n != 1 {
		t.Errorf("%d lines about one shortage", n)
	}
	b.want(codec.ResponseSuccess, route("a")) // the broker's own connection was never ended
	p.stop()
}
