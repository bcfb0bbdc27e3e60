package codec

// RegisterRoom is memory for decoding registrations, one after another: what a body of 5,000 topics needs, some
// 350 KB, would otherwise be garbage after each. The zero value is ready. It belongs to whoever
// uses the body that was parsed into it.
type RegisterRoom struct {
	topics []TopicConfig
	slots  []uint32 // of keepLast
}

// mostRoomTopics is how many topics' room is kept.
const mostRoomTopics = 32_768

// Clear lets go of what the last body held. Its Topics must not be used any more.
func (r *RegisterRoom) Clear() {
	if cap(r.topics) > mostRoomTopics || cap(r.slots) > 4*mostRoomTopics {
		*r = RegisterRoom{}
		return
	}
	clear(r.topics[:cap(r.topics)])
	r.topics = r.topics[:0]
}

// keep remembers where a body's topics lie.
func (r *RegisterRoom) keep(topics []TopicConfig) {
	if topics != nil {
		r.topics = topics
	}
}

// newTopics returns an empty table with room for n topics.
func (r *RegisterRoom) newTopics(n int) []TopicConfig {
	if n <= cap(r.topics) {
		return r.topics[:0]
	}
	return make([]TopicConfig, 0, n)
}
