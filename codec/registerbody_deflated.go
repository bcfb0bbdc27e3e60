package codec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

var (
	errNegativeCount = errors.New("negative count or length")
	errTopicLine     = errors.New("malformed topic line")
	errMappingTopic  = errors.New("mapping without topic")
)

// parseDeflated reads the deflated form: a zlib stream of
//
//	item   DataVersion as JSON
//	int32  topics;   so many items  "name read write perm filterType[ attributes]"
//	item   filterServerList as JSON
//	int32  mappings; so many items  mapping as JSON     (senders of 413 and later)
//
// where an item is an int32 length and so many bytes. It carries no
// topicSysFlag, and bytes after the last item are ignored.
func (p *registerParser) parseDeflated(b []byte) error {
	limit := p.options.MaxInflatedBytes
	if limit == 0 {
		limit = DefaultMaxInflatedBytes
	}
	f, err := newInflater(b, limit)
	if err != nil {
		return err
	}
	defer f.free()
	if err := p.deflatedVersion(f); err != nil {
		return fmt.Errorf("data version: %w", err)
	}
	if err := p.deflatedTopics(f); err != nil {
		return fmt.Errorf("topics: %w", err)
	}
	if err := p.deflatedFilterServers(f); err != nil {
		return fmt.Errorf("filter servers: %w", err)
	}
	if p.options.Version >= versionMappingDeflated {
		if err := p.deflatedMappings(f); err != nil {
			return fmt.Errorf("mappings: %w", err)
		}
	}
	return nil
}

func (p *registerParser) deflatedVersion(f *inflater) error {
	b, err := f.item()
	if err != nil {
		return err
	}
	p.reset(b)
	p.body.DataVersion = p.dataVersion(p.options.NowMillis)
	return p.finish()
}

func (p *registerParser) deflatedTopics(f *inflater) error {
	n, err := readCount(f, maxBodyEntries)
	if err != nil || n == 0 {
		return err
	}
	p.body.Topics = p.memory.newTopics(min(n, 4096))
	for range n {
		line, err := f.item()
		if err != nil {
			return err
		}
		t, err := p.topicLine(line)
		if err != nil {
			return err
		}
		p.body.Topics = append(p.body.Topics, t)
	}
	return nil
}

// deflatedFilterServers reads the list. What is not a list of strings reads as
// an empty one; null and no bytes at all leave the known list alone.
func (p *registerParser) deflatedFilterServers(f *inflater) error {
	b, err := f.item()
	if err != nil || len(b) == 0 {
		return err
	}
	p.reset(b)
	p.filterServers()
	if err := p.finish(); errors.Is(err, ErrTooManyEntries) {
		return err
	} else if err != nil {
		p.body.FilterServers, p.body.HasFilterServers = nil, true
	}
	return nil
}

func (p *registerParser) deflatedMappings(f *inflater) error {
	n, err := readCount(f, maxBodyMappings)
	if err != nil {
		return err
	}
	for range n {
		b, err := f.item()
		if err != nil {
			return err
		}
		p.reset(b)
		if !p.root() {
			return p.finish()
		}
		m := p.mapping("")
		if err := p.finish(); err != nil {
			return err
		}
		if !m.Topic.Valid {
			return errMappingTopic
		}
		m.Key = m.Topic.S
		p.body.Mappings = append(p.body.Mappings, m)
	}
	return nil
}

// readCount reads the number of items that follow.
func readCount(f *inflater, limit int32) (int, error) {
	n, err := f.int32()
	switch {
	case err != nil:
		return 0, err
	case n < 0:
		return 0, errNegativeCount
	case n > limit:
		return 0, ErrTooManyEntries
	}
	return int(n), nil
}

// topicLine reads one topic. Java's String.split cut it at each blank and
// dropped empty tokens at the end: so two blanks in a row are a bad number,
// and blanks that end the line are none.
func (p *registerParser) topicLine(line []byte) (TopicConfig, error) {
	rest := bytes.TrimRight(line, " ")
	var tokens [5][]byte
	for i := range tokens {
		if rest == nil {
			return TopicConfig{}, errTopicLine
		}
		tokens[i], rest, _ = bytes.Cut(rest, []byte{' '})
	}
	if kind := string(tokens[4]); kind != "SINGLE_TAG" && kind != "MULTI_TAG" {
		return TopicConfig{}, errTopicLine
	}
	var numbers [3]int32
	for i := range numbers {
		v, ok := parseLineInt32(tokens[i+1])
		if !ok {
			return TopicConfig{}, errTopicLine
		}
		numbers[i] = v
	}
	name := p.topicName(p.utf8(tokens[0], utf8.RuneSelf))
	return TopicConfig{
		Key: name, Name: name, HasName: true,
		ReadQueueNums: numbers[0], WriteQueueNums: numbers[1], Perm: numbers[2],
	}, nil
}

// parseLineInt32 reads an optional sign and decimal digits.
func parseLineInt32(b []byte) (int32, bool) {
	digits := b
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits = b[1:]
	}
	v, ok := parseInteger(b)
	return int32(v), ok && allDigits(digits) && v >= math.MinInt32 && v <= math.MaxInt32
}
