package codec

import "hash/maphash"

var keySeed = maphash.MakeSeed() // secret, so that nobody can choose keys that collide

// keepLast makes the keys of s unique, in place: of entries with one key the
// last stands, at the place of the first. room becomes 8 to 16 bytes an entry.
func keepLast[E any](s []E, room *[]uint32, key func(*E) string) []E {
	if len(s) < 2 {
		return s
	}
	size := 4
	for size < 2*len(s) {
		size *= 2
	}
	if cap(*room) < size {
		*room = make([]uint32, size)
	}
	slots := (*room)[:size] // open addressing: index into s plus 1, 0 is free
	clear(slots)
	kept := 0
	for i := range s {
		k := key(&s[i])
		for h := int(maphash.String(keySeed, k)) & (size - 1); ; h = (h + 1) & (size - 1) {
			if slots[h] == 0 {
				if kept != i { // mostly all are kept, and a copy of pointers costs
					s[kept] = s[i]
				}
				kept++
				slots[h] = uint32(kept)
				break
			}
			if first := &s[slots[h]-1]; key(first) == k {
				*first = s[i]
				break
			}
		}
	}
	clear(s[kept:])
	return s[:kept]
}
