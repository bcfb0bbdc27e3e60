package peers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// What says which list is asked for.
type What uint8

const (
	Brokers    What = iota + 1 // broker names, each with the digest of its group and topics
	Topics                     // topics of the broker Of, each with the digest of its queues there
	Namespaces                 // KV namespaces, each with the digest of its entries
	Entries                    // entries of the KV namespace Of, with their values
	Keys                       // entries of the KV namespace Of, without their values
	Clusters                   // cluster names, each with the digest of its brokers
)

// Query asks for the part of a list behind the name After, in the order of names.
type Query struct {
	What  What
	Of    string
	After string // ignored unless Behind
	// Behind: After is the last name of the page before, "" included.
	Behind bool
}

// Entry is one element of a list.
type Entry struct {
	Name   string
	Digest uint64
	Value  string // of Entries
}

// Page is a part of a list, in the order of names. Known is false if there is no such broker or namespace.
type Page struct {
	Entries []Entry
	More    bool
	Known   bool
}

// askLimit is how long a page is waited for.
const askLimit = 3 * time.Second

const (
	// PageBytes bounds a page: Cut ends it there.
	PageBytes      = 64 << 10
	entryBytes     = 24 // of an entry besides its texts, at most
	leastEntry     = 10
	maxQuestions   = 16
	maxListEntries = 100_000 // that List puts together
	maxListBytes   = 32 << 20
)

// Cut returns how many entries a page has room for, of those that size tells the bytes of: one at least, if there is one.
func Cut(n int, size func(int) int) int {
	bytes := 0
	for i := range n {
		if bytes += size(i) + entryBytes; bytes > PageBytes && i > 0 {
			return i
		}
	}
	return n
}

// question is an ask on its way to the answerer.
type question struct {
	from   *peer
	number uint64
	query  Query
}

var (
	errListTooLong = errors.New("peers: the list is too long")
	errDisordered  = errors.New("peers: the list isn't in order")
)

// List asks a peer for a whole list. ok is false if it has no such broker or namespace.
func (g *Group) List(ctx context.Context, from string, q Query) (entries []Entry, ok bool, err error) {
	bytes := 0
	for {
		page, err := g.ask(ctx, from, q)
		if err != nil || !page.Known {
			return nil, false, err
		}
		for _, e := range page.Entries {
			if q.Behind && e.Name <= q.After {
				return nil, false, errDisordered
			}
			q.After, q.Behind = e.Name, true
			bytes += len(e.Name) + len(e.Value) + entryBytes
		}
		entries = append(entries, page.Entries...)
		if len(entries) > maxListEntries || bytes > maxListBytes {
			return nil, false, errListTooLong
		}
		if !page.More {
			return entries, true, nil
		}
		if len(page.Entries) == 0 {
			return nil, false, errDisordered
		}
	}
}

// ask asks for one page.
func (g *Group) ask(ctx context.Context, from string, q Query) (Page, error) {
	p, number, answer := g.await(from)
	if p == nil {
		return Page{}, ErrNoPeer
	}
	defer func() {
		g.mu.Lock()
		delete(g.waits, number)
		g.mu.Unlock()
	}()
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	e, node, _ := g.address(p)
	if err := g.list.SendReliable(node, appendQuery(e.append(nil, kindAsk), number, q)); err != nil {
		return Page{}, fmt.Errorf("%w: %w", ErrNoPeer, err)
	}
	select {
	case page := <-answer:
		return page, nil
	case <-ctx.Done():
		return Page{}, fmt.Errorf("peers: %s hasn't answered: %w", from, ctx.Err())
	case <-g.ctx.Done():
		return Page{}, ErrNoPeer
	}
}

// await prepares for an answer; p is nil if the peer isn't there.
func (g *Group) await(from string) (p *peer, number uint64, answer chan Page) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p = g.peers[from]; p == nil || !p.alive {
		return nil, 0, nil
	}
	g.asks++
	answer = make(chan Page, 1)
	g.waits[g.asks] = answer
	return p, g.asks, answer
}

func appendQuery(dst []byte, number uint64, q Query) []byte {
	dst = binary.AppendUvarint(dst, number)
	dst = append(dst, byte(q.What), 0)
	if q.Behind {
		dst[len(dst)-1] = 1
	}
	dst = appendText(dst, q.Of)
	return appendText(dst, q.After)
}

func (r *reader) query() (number uint64, q Query) {
	number = r.Uvarint()
	q.What, q.Behind = What(r.Byte()), r.Byte() != 0
	q.Of, q.After = r.Text(maxValueBytes), r.Text(maxValueBytes)
	return number, q
}

// hearAsk hands an ask to the answerer.
func (g *Group) hearAsk(r *reader, e envelope) {
	number, q := r.query()
	if r.Err() != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.sender(&e)
	if p == nil {
		return
	}
	select {
	case g.asked <- question{p, number, q}:
	default:
		g.counts.unasked.Add(1)
	}
}

// runAnswerer answers asks, one after another.
func (g *Group) runAnswerer() {
	for {
		select {
		case q := <-g.asked:
			g.answer(q)
		case <-g.ctx.Done():
			return
		}
	}
}

func (g *Group) answer(q question) {
	e, node, _ := g.address(q.from)
	b := appendPage(e.append(nil, kindAnswer), q.number, g.o.List(q.query))
	if len(b) > maxMessageBytes {
		g.log.limited("peers: an answer is too long to send", "peer", q.from.name, "bytes", len(b))
		return
	}
	if err := g.list.SendReliable(node, b); err != nil {
		g.o.Logger.Debug("peers: not answered", "peer", q.from.name, "error", err)
	}
}

func appendPage(dst []byte, number uint64, p Page) []byte {
	dst = binary.AppendUvarint(dst, number)
	flags := byte(0)
	if p.More {
		flags |= 1
	}
	if p.Known {
		flags |= 2
	}
	dst = binary.AppendUvarint(append(dst, flags), uint64(len(p.Entries)))
	for _, e := range p.Entries {
		dst = appendText(dst, e.Name)
		dst = binary.LittleEndian.AppendUint64(dst, e.Digest)
		dst = appendText(dst, e.Value)
	}
	return dst
}

func (r *reader) page() (number uint64, p Page) {
	number = r.Uvarint()
	flags := r.Byte()
	p.More, p.Known = flags&1 != 0, flags&2 != 0
	n := r.Count(leastEntry)
	for i := 0; i < n && r.Err() == nil; i++ {
		p.Entries = append(p.Entries, Entry{Name: r.Text(maxValueBytes), Digest: r.Fixed(), Value: r.Text(maxValueBytes)})
	}
	return number, p
}

// hearAnswer hands an answer to whoever waits for it.
func (g *Group) hearAnswer(r *reader, e envelope) {
	number, page := r.page()
	if r.Err() != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sender(&e) == nil {
		return
	}
	if answer := g.waits[number]; answer != nil {
		select {
		case answer <- page:
		default: // it has one
		}
	}
}
