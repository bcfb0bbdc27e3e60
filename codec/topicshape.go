package codec

import "bytes"

// topicShapes remembers the spelling of topics earlier in the same topicConfigTable. A broker's topics differ in name
// and in little else, so most are one of a few spellings with another name in it: three comparisons in place of a parse.
//
// It is sound because the name stands in two whole tokens, the key and the topicName that counts, both without anything to
// unescape: with another such name in both places the text means the same but for the name.
//
// The zero value knows none. What it holds aliases the body.
type topicShapes struct {
	known  [maxTopicShapes]topicShape
	learnt int // so far; the oldest is forgotten for one more
}

// maxTopicShapes: a table rarely has more than a handful of different settings.
const maxTopicShapes = 8

type topicShape struct {
	head   []byte // from behind the key's text to the topicName's
	tail   []byte // from behind the topicName's text to the topic's last byte
	config TopicConfig
}

// knownTopic reads the next topic of the table if it has a known spelling. If not it moves nothing.
func (p *registerParser) knownTopic() (t TopicConfig, ok bool) {
	known := p.shapes.known[:min(p.shapes.learnt, maxTopicShapes)]
	if len(known) == 0 || len(p.b)-p.pos < 2 || p.b[p.pos] != ',' || p.b[p.pos+1] != '"' {
		return TopicConfig{}, false
	}
	name, rest, ok := plainText(p.b[p.pos+2:])
	if !ok {
		return TopicConfig{}, false
	}
	for i := range known {
		if after, ok := known[i].after(rest, name); ok {
			p.pos = len(p.b) - len(after)
			t = known[i].config
			t.Key = p.topicName(name)
			t.Name = t.Key
			return t, true
		}
	}
	return TopicConfig{}, false
}

// after returns what follows a topic of that name and this spelling.
func (s *topicShape) after(b, name []byte) (rest []byte, ok bool) {
	n := len(s.head) + len(name)
	if len(b) < n+len(s.tail) || !bytes.Equal(b[n:n+len(s.tail)], s.tail) {
		return nil, false
	}
	if !bytes.Equal(b[:len(s.head)], s.head) || !bytes.Equal(b[len(s.head):n], name) {
		return nil, false
	}
	return b[n+len(s.tail):], true
}

// learnTopic remembers the spelling of the topic that was just read. It began at start, the comma before it included, and
// the topicName that counts ended at nameEnd.
func (p *registerParser) learnTopic(t *TopicConfig, start, nameEnd int) {
	if p.err != nil || !t.HasName || t.Name != t.Key {
		return
	}
	b := p.b[start:p.pos]
	b = bytes.TrimPrefix(b, []byte{','})
	key, rest, plain := plainText(bytes.TrimPrefix(b, []byte{'"'}))
	tail := p.pos - (nameEnd - 1) // from the quote behind the topicName on
	head := len(rest) - tail - len(key)
	if b[0] != '"' || !plain || string(key) != t.Key || head < 1 {
		return
	}
	s := topicShape{head: rest[:head], tail: rest[head+len(key):], config: *t}
	if s.head[head-1] != '"' || s.tail[0] != '"' || !bytes.Equal(rest[head:head+len(key)], key) {
		return // a name that is no text, or one with an escape
	}
	p.shapes.known[p.shapes.learnt%maxTopicShapes] = s
	p.shapes.learnt++
}
