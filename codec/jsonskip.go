package codec

// maxJSONDepth is how deep a skipped value may nest. No known peer nests
// deeper than 6; the bound is what a hostile body can make us remember.
const maxJSONDepth = 512

// skip consumes one value of any kind and checks its grammar. It keeps one bit
// for each open container, so depth costs neither stack nor heap.
func (r *jsonReader) skip() {
	var objects [maxJSONDepth / 64]uint64 // bit d: the container at depth d is an object
	depth := 0
	for {
		switch c := r.peek(); c {
		case '{', '[':
			if depth == maxJSONDepth {
				r.fail("nested too deep")
				return
			}
			if c == '{' {
				objects[depth/64] |= 1 << (depth % 64)
			} else {
				objects[depth/64] &^= 1 << (depth % 64)
			}
			depth++
			r.open(c)
		case 'n':
			r.literal("null")
		default:
			r.text()
		}
		for more := false; !more; { // leave the containers that end here
			if depth == 0 {
				return
			}
			if d := depth - 1; objects[d/64]>>(d%64)&1 == 1 {
				_, more = r.member()
			} else {
				more = r.element()
			}
			if !more {
				depth--
			}
		}
	}
}
