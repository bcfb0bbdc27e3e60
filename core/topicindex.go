package core

// topicIndex numbers topics and knows where each stands in its list. The writer's own.
type topicIndex struct {
	names  []string // by topic id; "" where free
	places []uint32 // by topic id: position in the topics of its list
	free   []uint32
}

// newID numbers a topic.
func (x *topicIndex) newID(name string) uint32 {
	if n := len(x.free); n > 0 {
		id := x.free[n-1]
		x.free = x.free[:n-1]
		x.names[id] = name
		return id
	}
	x.names, x.places = append(x.names, name), append(x.places, 0)
	return uint32(len(x.names) - 1)
}

func (x *topicIndex) freeID(id uint32) {
	x.names[id] = ""
	x.free = append(x.free, id)
	if len(x.free) == len(x.names) {
		x.names, x.places, x.free = nil, nil, nil
	}
}

// enter puts a topic among those of a list.
func (x *topicIndex) enter(l *queueList, id uint32) {
	x.places[id] = uint32(len(l.topics))
	l.topics = append(l.topics, id)
}

// leave takes a topic out of its list.
func (x *topicIndex) leave(l *queueList, id uint32) {
	last := len(l.topics) - 1
	moved, place := l.topics[last], x.places[id]
	l.topics[place], x.places[moved] = moved, place
	l.topics = l.topics[:last]
}

// all reports whether ids, as many as the list has topics, are all of them.
func (x *topicIndex) all(l *queueList, ids []uint32) bool {
	seen := make([]bool, len(l.topics))
	for _, id := range ids {
		at := int(x.places[id])
		if at >= len(seen) || seen[at] || l.topics[at] != id {
			return false
		}
		seen[at] = true
	}
	return true
}
