package codec

import (
	"math"
	"strconv"
)

// parseJSON reads a JSON header in one pass. As strict as Apache 5.5.0, which
// lets pass what careless clients write: any order of keys, unknown members,
// blanks after the object, a comma before its end, single quotes, numbers as
// text, numbers and booleans for text. Null is as absent; of a repeated key the
// last counts. The member serializeTypeCurrentRPC means nothing: the frame's
// type byte has decided.
func (c *Command) parseJSON(h []byte) error {
	s := headerScanner{b: h, scratch: c.scratch}
	err := s.header(c)
	c.scratch = s.scratch
	if err != nil {
		return err
	}
	if s.skipBlanks(); s.i != len(s.b) {
		return ErrHeaderSyntax
	}
	return nil
}

func (s *headerScanner) header(c *Command) error {
	if s.skipBlanks(); !s.skip('{') {
		return ErrHeaderSyntax
	}
	for {
		key, err := s.key()
		if key == nil || err != nil {
			return err
		}
		switch string(key) {
		case "code":
			c.Code, err = s.int32()
		case "extFields":
			err = s.extFields(c)
		case "flag":
			c.Flag, err = s.int32()
		case "language":
			c.Language, err = s.language()
		case "opaque":
			c.Opaque, err = s.int32()
		case "remark":
			c.Remark, err = s.text()
			c.HasRemark = c.Remark != nil
		case "version":
			c.Version, err = s.int32()
		default:
			err = s.skipValue()
		}
		if err != nil {
			return err
		}
		if more, err := s.endMember(); !more {
			return err
		}
	}
}

// extFields reads an object of text. Numbers and booleans count as written, an
// object or array as its JSON text.
func (s *headerScanner) extFields(c *Command) error {
	c.fields, c.HasExtFields = c.fields[:0], false
	if s.peek() == 'n' {
		return s.skipValue()
	}
	if !s.skip('{') {
		return ErrHeaderExtFields
	}
	c.HasExtFields = true
	for {
		name, err := s.key()
		if name == nil || err != nil {
			return err
		}
		value, err := s.text()
		if err != nil {
			return err
		}
		if err := c.addField(name, value); err != nil {
			return err
		}
		if more, err := s.endMember(); !more {
			return err
		}
	}
}

// language reads a name or a position in the list. Whatever else stands there
// is an unknown language; Apache closes the connection for some of it.
func (s *headerScanner) language() (Language, error) {
	first := s.peek()
	text, err := s.text()
	switch {
	case err != nil:
		return LanguageUnknown, err
	case text == nil:
		return LanguageJava, nil
	case isNumberStart(first):
		if n, ok := truncatedInt32(text); ok {
			return languageOfNumber(n), nil
		}
		return LanguageUnknown, nil
	case first == '"' || first == '\'':
		return languageOfName(text), nil
	}
	return LanguageUnknown, nil
}

// int32 reads a number, also one written as text. Null and empty text are 0.
func (s *headerScanner) int32() (int32, error) {
	first := s.peek()
	if n, ok := s.shortNumber(); ok {
		return n, nil
	}
	text, err := s.text()
	if err != nil || len(text) == 0 {
		return 0, err
	}
	if first == '"' || first == '\'' {
		number := headerScanner{b: text}
		if _, err := number.number(); err != nil || number.i != len(text) {
			return 0, ErrHeaderNumber
		}
	} else if !isNumberStart(first) {
		return 0, ErrHeaderNumber
	}
	n, ok := truncatedInt32(text)
	if !ok {
		return 0, ErrHeaderNumber
	}
	return n, nil
}

// shortNumber reads what nearly every number is: up to nine digits with a
// comma or the end of the object right after them. It reads nothing else.
func (s *headerScanner) shortNumber() (int32, bool) {
	const mostDigits = 9 // that can't leave int32
	n, b := int32(0), s.b[s.i:]
	for i, c := range b[:min(len(b), mostDigits+1)] {
		switch {
		case isDigit(c) && i < mostDigits:
			n = n*10 + int32(c-'0')
		case i > 0 && (c == ',' || c == '}'):
			s.i += i
			return n, true
		default:
			return 0, false
		}
	}
	return 0, false
}

// truncatedInt32 returns a JSON number without its fraction, not ok if that
// is no int32.
func truncatedInt32(number []byte) (int32, bool) {
	i, negative := 0, number[0] == '-'
	if negative {
		i++
	}
	const limit = math.MaxInt32 + 1
	n := int64(0)
	for ; i < len(number) && isDigit(number[i]); i++ {
		if n = n*10 + int64(number[i]-'0'); n > limit {
			n = limit + 1 // out of range, unless a negative exponent follows
		}
	}
	for ; i < len(number); i++ {
		if number[i]|0x20 == 'e' {
			return truncatedFloat(number)
		}
	}
	if negative {
		n = -n
	}
	return int32(n), int64(int32(n)) == n
}

// truncatedFloat is truncatedInt32 for numbers with an exponent, which nobody sends.
func truncatedFloat(number []byte) (int32, bool) {
	f, err := strconv.ParseFloat(string(number), 64)
	f = math.Trunc(f)
	if err != nil || f < math.MinInt32 || f > math.MaxInt32 {
		return 0, false
	}
	return int32(f), true
}
