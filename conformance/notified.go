package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// ErrPortTaken says that a broker's address of the recording, where the
// nameserver will send its notifications, is in use on this machine.
var ErrPortTaken = errors.New("conformance: a broker's port is taken")

const (
	notifyWait  = 5 * time.Second
	listenTries = 40
	listenPause = 50 * time.Millisecond
)

// peers listens where the brokers of a capture listen: at the addresses they
// registered. It serves the captures in which the nameserver calls brokers.
type peers struct {
	brokers map[string]*broker // by their name in the capture's links: master, slave
}

type broker struct {
	listener net.Listener
	frames   chan []byte
	calls    chan net.Conn // connections that the nameserver opened
}

// listenAsPeers listens for the brokers of a capture that has notifications.
func listenAsPeers(lines []Line) (*peers, error) {
	p := &peers{brokers: map[string]*broker{}}
	if !hasNotifications(lines) {
		return p, nil
	}
	for i := range lines {
		l := &lines[i]
		if l.Frame == nil || l.Dir != ">" || p.brokers[l.Link] != nil {
			continue
		}
		var h struct {
			Code      int
			ExtFields map[string]string
		}
		if json.Unmarshal(l.Header, &h) != nil || h.Code != codeRegisterBroker {
			continue
		}
		b, err := listenAt(h.ExtFields["brokerAddr"])
		if err != nil {
			p.close()
			return nil, err
		}
		p.brokers[l.Link] = b
	}
	return p, nil
}

func hasNotifications(lines []Line) bool {
	for i := range lines {
		if lines[i].fromServer() {
			return true
		}
	}
	return false
}

func listenAt(addr string) (*broker, error) {
	for try := 0; ; try++ {
		l, err := net.Listen("tcp", addr)
		if err == nil {
			b := &broker{listener: l, frames: make(chan []byte, 64), calls: make(chan net.Conn, 64)}
			go b.accept()
			return b, nil
		}
		if try == listenTries {
			return nil, fmt.Errorf("%w: %w", ErrPortTaken, err)
		}
		time.Sleep(listenPause)
	}
}

func (b *broker) accept() {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			close(b.calls)
			return
		}
		b.calls <- c
		go b.read(c)
	}
}

func (b *broker) read(c net.Conn) {
	for {
		f, err := readFrame(c)
		if err != nil {
			return
		}
		b.frames <- f
	}
}

// expect waits for the notification that the line records.
func (p *peers) expect(l *Line) []Difference {
	name := strings.TrimPrefix(l.Link, "ns-to-")
	differ := func(format string, args ...any) []Difference {
		return []Difference{{l.where(), "notification to " + name, fmt.Sprintf(format, args...)}}
	}
	b := p.brokers[name]
	if b == nil {
		return differ("no such broker")
	}
	select {
	case f := <-b.frames:
		if detail := differNotification(l.Frame, f); detail != "" {
			return differ("%s", detail)
		}
	case <-time.After(notifyWait):
		return differ("none came")
	}
	return nil
}

// differNotification compares two 905 frames. Free is the opaque, which the
// nameserver counts up over all that it sends.
func differNotification(want, got []byte) string {
	w, err := parseAnswer(want)
	if err != nil {
		return err.Error()
	}
	g, err := parseAnswer(got)
	if err != nil {
		return err.Error()
	}
	if w.Code != codeNotifyMinBrokerID {
		return fmt.Sprintf("the recording has code %d", w.Code)
	}
	g.Opaque = w.Opaque
	return differ(w, g, true)
}

// rest reports notifications that nobody expected, and brokers that were called
// more than once: one connection serves all notifications to one address.
func (p *peers) rest() []Difference {
	if len(p.brokers) > 0 {
		time.Sleep(silenceWait)
	}
	var differs []Difference
	for name, b := range p.brokers {
		if n := len(b.frames); n > 0 {
			differs = append(differs, Difference{"end of the file", "notification to " + name, fmt.Sprintf("%d more than recorded", n)})
		}
		if n := len(b.calls); n > 1 {
			differs = append(differs, Difference{"end of the file", "notification to " + name, fmt.Sprintf("%d connections", n)})
		}
	}
	return differs
}

func (p *peers) close() {
	for _, b := range p.brokers {
		b.listener.Close()
		for c := range b.calls {
			c.Close()
		}
	}
}
