package codec

// skipValue reads over any value, checking it all the same.
func (s *headerScanner) skipValue() (err error) {
	switch s.peek() {
	case '"', '\'':
		err = s.skipString()
	case '{', '[':
		err = s.skipNested()
	default:
		_, err = s.scalar()
	}
	return err
}

func (s *headerScanner) skipString() error {
	mark := len(s.scratch)
	_, err := s.string()
	s.scratch = s.scratch[:mark]
	return err
}

// skipNested reads over an object or array. It doesn't call itself, so depth
// costs no stack.
func (s *headerScanner) skipNested() (err error) {
	mark := len(s.scratch)
	var open nesting
	for {
		fresh := false // after an opening or a comma: a value may begin
		switch c := s.peek(); c {
		case '{', '[':
			if s.i++; !open.push(c) {
				return ErrHeaderDepth
			}
			fresh = true
		case '"', '\'':
			_, err = s.string()
		default:
			_, err = s.scalar()
		}
		if err != nil {
			return err
		}
		for {
			c := s.peek()
			if c == open.closer() {
				if s.i++; open.pop() {
					s.scratch = s.scratch[:mark]
					return nil
				}
				fresh = false
				continue
			}
			if fresh {
				break
			}
			if c != ',' {
				return ErrHeaderSyntax
			}
			s.i++
			fresh = true
		}
		if open.closer() == '}' {
			if _, err = s.key(); err != nil {
				return err
			}
		}
	}
}

// nesting remembers which of the open values are objects and which arrays.
type nesting struct {
	objects [maxHeaderDepth / 64]uint64
	depth   int
}

// push opens an object or array; false if that is one too many.
func (n *nesting) push(opener byte) bool {
	if n.depth == maxHeaderDepth {
		return false
	}
	word, bit := &n.objects[n.depth/64], uint64(1)<<(n.depth%64)
	*word &^= bit
	if opener == '{' {
		*word |= bit
	}
	n.depth++
	return true
}

// pop closes the innermost; true if none is open any more.
func (n *nesting) pop() bool {
	n.depth--
	return n.depth == 0
}

// closer is what closes the innermost.
func (n *nesting) closer() byte {
	top := n.depth - 1
	if n.objects[top/64]>>(top%64)&1 != 0 {
		return '}'
	}
	return ']'
}

// compact returns a checked object or array without the blanks between its
// tokens, in scratch.
func (s *headerScanner) compact(raw []byte) []byte {
	mark, quote := len(s.scratch), byte(0)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case quote == 0 && isBlank(c):
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == c:
			quote = 0
		case quote != 0 && c == '\\':
			s.scratch = append(s.scratch, c)
			i++
			c = raw[i]
		}
		s.scratch = append(s.scratch, c)
	}
	return s.scratch[mark:len(s.scratch):len(s.scratch)]
}
