package core

// arrival brings the topics of a registration into the table, one after the other. Topics whose list this batch has made or
// changed already, for another broker, wait until the registration has brought all that share the list: then the broker
// joins the list, which is made anew once for all who join it.
type arrival struct {
	*Table
	group   *Group
	replace bool // queues that differ are replaced
	changed int  // topics

	waiting map[*queueList]*arriving
	order   []*arriving // of waiting, so that what they come to doesn't depend on chance
	last    *arriving   // looked up last: the next topic is mostly of the same list
}

// arriving is a list of which some topics have been brought, all with the same setting.
type arriving struct {
	list    *queueList
	known   queueSetting // what the list has of the group
	has     bool         // known is something
	setting queueSetting
	ids     []uint32 // of the topics brought; one may be there twice
}

func (t *Table) newArrival(g *Group, replace bool) arrival {
	if t.lists.hasJoined(g.index) {
		t.settle()
	}
	return arrival{Table: t, group: g, replace: replace}
}

// topic brings one topic.
func (a *arrival) topic(name string, s queueSetting) {
	r, known := a.topics.Get(name)
	switch {
	case !known:
		a.singly(a.newTopic(name), s)
	case a.waits(r.list):
		a.wait(r, s)
	default:
		a.singly(r, s)
	}
}

// waits reports whether topics of the list wait for one another: if it is of this batch, unless the group has joined it, which
// a topic that is brought twice finds.
func (a *arrival) waits(l *queueList) bool {
	if l.edit == nil {
		return l.born == a.lists.batch
	}
	n := len(l.edit.joining)
	return n == 0 || l.edit.joining[n-1].group() != a.group.index
}

// singly gives one topic its queue. What waits for its list is carried out before that, and so is what waits for other
// topics of this registration, so that a topic that is brought again never waits twice.
func (a *arrival) singly(r *TopicRoute, s queueSetting) {
	if r.list.edit != nil {
		a.settle()
		a.end()
		r, _ = a.topics.Get(r.name)
	}
	if a.setQueueOf(r, a.group, s, a.replace) {
		a.changed++
	}
}

func (a *arrival) wait(r *TopicRoute, s queueSetting) {
	w := a.arriving(r.list)
	switch {
	case len(w.ids) > 0 && w.setting != s: // the list will be several
		a.giveUp(w)
		r, _ = a.topics.Get(r.name)
		a.singly(r, s)
		return
	case w.has && (w.known == s || !a.replace && !w.known.restored):
		return
	}
	w.setting = s
	if w.ids = append(w.ids, r.id); len(w.ids) < len(w.list.topics) {
		return
	}
	if !a.index.all(w.list, w.ids) {
		a.giveUp(w)
		return
	}
	a.noteList(w.list, a.group, &s)
	setting := a.queues.acquire(s)
	a.lists.join(w.list, makeQueue(a.group.index, setting))
	a.queues.release(setting)
	a.changed += len(w.ids)
	a.topicsChanged += len(w.ids)
	a.forget(w)
}

func (a *arrival) arriving(l *queueList) *arriving {
	if a.last != nil && a.last.list == l {
		return a.last
	}
	w := a.waiting[l]
	if w == nil {
		w = &arriving{list: l}
		if a.lists.hasAny(a.group.index) {
			if i := l.find(a.group.index); i >= 0 {
				w.known, w.has = a.queues.table.at(l.queues[i].setting()).queueSetting, true
			}
		}
		if a.waiting == nil {
			a.waiting = map[*queueList]*arriving{}
		}
		a.waiting[l] = w
		a.order = append(a.order, w)
	}
	a.last = w
	return w
}

// giveUp brings the topics that wait one by one.
func (a *arrival) giveUp(w *arriving) {
	ids := w.ids
	a.forget(w)
	for _, id := range ids {
		r, _ := a.topics.Get(a.index.names[id])
		a.singly(r, w.setting)
	}
}

func (a *arrival) forget(w *arriving) {
	w.ids, a.last = nil, nil
	delete(a.waiting, w.list)
}

// end brings what waits for topics that haven't come.
func (a *arrival) end() {
	order := a.order
	a.order = nil
	for _, w := range order {
		a.giveUp(w)
	}
}
