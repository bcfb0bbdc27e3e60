package codec

import (
	"math"
	"strconv"
)

// int32 reads an integer that fits 32 bits; see integer.
func (r *jsonReader) int32() int32 { return int32(r.integer(math.MinInt32, math.MaxInt32)) }

// int64 reads an integer that fits 64 bits; see integer.
func (r *jsonReader) int64() int64 { return r.integer(math.MinInt64, math.MaxInt64) }

// integer reads a number or a string of one. A fraction is cut off. null is 0,
// whatever the default of an absent member: so 5.4.0 and later read it.
func (r *jsonReader) integer(lo, hi int64) int64 {
	var token []byte
	switch r.peek() {
	case 'n':
		r.literal("null")
		return 0
	case '"':
		token = r.str()
	default:
		token = r.number()
	}
	if r.err != nil {
		return 0
	}
	v, ok := parseInteger(token)
	if !ok || v < lo || v > hi {
		r.fail("bad integer, or out of range")
		return 0
	}
	return v
}

// number reads the text of a JSON number. Leading zeros are let through.
func (r *jsonReader) number() []byte {
	r.peek()
	start := r.pos
	r.sign("-")
	if r.digits() == 0 {
		r.fail("want a value")
		return nil
	}
	if r.pos < len(r.b) && r.b[r.pos] == '.' {
		r.pos++
		if r.digits() == 0 {
			r.fail("want a digit")
		}
	}
	if r.pos < len(r.b) && r.b[r.pos]|0x20 == 'e' {
		r.pos++
		r.sign("+-")
		if r.digits() == 0 {
			r.fail("want a digit")
		}
	}
	return r.b[start:r.pos]
}

// sign consumes one of the given signs, if it is there.
func (r *jsonReader) sign(signs string) {
	for i := range len(signs) {
		if r.pos < len(r.b) && r.b[r.pos] == signs[i] {
			r.pos++
			return
		}
	}
}

// digits consumes decimal digits and returns how many there were.
func (r *jsonReader) digits() int {
	start := r.pos
	for r.pos < len(r.b) && r.b[r.pos]-'0' <= 9 {
		r.pos++
	}
	return r.pos - start
}

// parseInteger reads an optional sign and decimal digits, or the whole part of
// a decimal fraction.
func parseInteger(b []byte) (int64, bool) {
	digits, negative := b, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		digits, negative = b[1:], b[0] == '-'
	}
	if len(digits) == 0 {
		return 0, false
	}
	const limit = uint64(1) << 63 // the magnitude of math.MinInt64
	var u uint64
	for _, c := range digits {
		if c-'0' > 9 {
			return parseFraction(b)
		}
		if u > limit/10 {
			return 0, false
		}
		if u = u*10 + uint64(c-'0'); u > limit {
			return 0, false
		}
	}
	if negative {
		return -int64(u), true // 1<<63 wraps to math.MinInt64, as it should
	}
	return int64(u), u < limit
}

// parseFraction cuts a number such as 5.0 or 1.5e3 down to its whole part.
func parseFraction(b []byte) (int64, bool) {
	for _, c := range b {
		if c-'0' > 9 && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, false
	}
	return int64(f), true
}
