package codec

// bytesPerTopic is what a topic takes at least in a body that a 5.x broker
// wrote, with a short name; from it the table's first allocation is guessed.
const bytesPerTopic = 160

// parseJSON reads the plain form.
func (p *registerParser) parseJSON(b []byte) error {
	p.reset(b)
	p.resetTable()
	p.body.HasFilterServers = true // an absent list is an empty one
	if p.root() {
		for key, ok := p.member(); ok; key, ok = p.member() {
			switch string(key) {
			case "topicConfigSerializeWrapper":
				p.wrapper()
			case "filterServerList":
				p.filterServers()
			default:
				p.skip()
			}
		}
	}
	return p.finish()
}

// resetTable puts back what an absent wrapper stands for; a repeated wrapper
// replaces all of the earlier one.
func (p *registerParser) resetTable() {
	p.body.DataVersion = DataVersion{Timestamp: p.options.NowMillis}
	p.body.Topics, p.body.Mappings = nil, nil
	p.body.NullTopicTable = false
	p.body.MappingTimestamp = Span{}
}

func (p *registerParser) wrapper() {
	p.resetTable()
	if p.null() {
		p.body.DataVersion = DataVersion{}
		p.body.NullTopicTable = true
		return
	}
	if p.open('{') {
		p.wrapperMembers()
	}
}

func (p *registerParser) wrapperMembers() {
	for key, ok := p.member(); ok; key, ok = p.member() {
		switch string(key) {
		case "dataVersion":
			p.body.DataVersion = p.dataVersion(p.options.NowMillis)
		case "topicConfigTable":
			p.topics()
		case "topicQueueMappingInfoMap":
			p.mappings()
		case "mappingDataVersion":
			p.body.MappingTimestamp = p.mappingTimestamp()
		default:
			p.skip()
		}
	}
}

// topics reads topicConfigTable. An entry that is null is as good as absent.
func (p *registerParser) topics() {
	p.body.Topics = nil
	if p.body.NullTopicTable = p.null(); p.body.NullTopicTable || !p.open('{') {
		return
	}
	p.shapes.learnt = 0
	var topics []TopicConfig
	for p.room(len(topics), maxBodyEntries) {
		if t, ok := p.knownTopic(); ok {
			topics = append(topics, t)
			continue
		}
		start := p.pos
		key, ok := p.member()
		if !ok {
			break
		}
		if topics == nil {
			topics = p.memory.newTopics(min((len(p.b)-p.pos)/bytesPerTopic+1, maxBodyEntries))
		}
		t := TopicConfig{Key: p.topicName(key), ReadQueueNums: 16, WriteQueueNums: 16, Perm: 6}
		if !p.null() && p.open('{') {
			nameEnd := p.topicMembers(&t)
			p.learnTopic(&t, start, nameEnd)
			topics = append(topics, t)
		}
	}
	p.body.Topics = topics
}

// topicMembers reads one topic and returns where the topicName that counts, the last, ends.
func (p *registerParser) topicMembers(t *TopicConfig) (nameEnd int) {
	for key, ok := p.member(); ok; key, ok = p.member() {
		switch string(key) {
		case "topicName":
			t.Name, t.HasName = p.nameUnder(t.Key)
			nameEnd = p.pos
		case "readQueueNums":
			t.ReadQueueNums = p.int32()
		case "writeQueueNums":
			t.WriteQueueNums = p.int32()
		case "perm":
			t.Perm = p.int32()
		case "topicSysFlag":
			t.TopicSysFlag = p.int32()
		default:
			p.skip()
		}
	}
	return nameEnd
}

// nameUnder reads a topicName or null. A name equal to its key shares the
// key's string.
func (p *registerParser) nameUnder(key string) (name string, ok bool) {
	if p.null() {
		return "", false
	}
	b := p.text()
	if string(b) == key {
		return key, true
	}
	return p.topicName(b), true
}

// filterServers reads a list of strings, or null, which leaves the known list
// alone. Entries that are null are left out.
func (p *registerParser) filterServers() {
	p.body.FilterServers = nil
	p.body.HasFilterServers = !p.null()
	if !p.body.HasFilterServers || !p.open('[') {
		return
	}
	for p.element() && p.room(len(p.body.FilterServers), maxBodyEntries) {
		if !p.null() {
			p.body.FilterServers = append(p.body.FilterServers, string(p.text()))
		}
	}
}

// mappingTimestamp skips a mappingDataVersion and tells where the digits of
// its timestamp are. It checks no more than the grammar, since a registration
// that differs in these digits alone counts as the same.
func (p *registerParser) mappingTimestamp() (digits Span) {
	if p.peek() != '{' {
		p.skip()
		return Span{}
	}
	p.open('{')
	for key, ok := p.member(); ok; key, ok = p.member() {
		if string(key) != "timestamp" {
			p.skip()
			continue
		}
		p.peek()
		start := p.pos
		p.skip()
		if digits = (Span{start, p.pos}); !allDigits(p.b[start:p.pos]) {
			digits = Span{}
		}
	}
	return digits
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}
