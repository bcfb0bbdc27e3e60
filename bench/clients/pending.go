package clients

// pending are the requests of one connection that wait for their answers, oldest first.
type pending struct {
	waiting []request
	head    int // those before are answered
	open    int // how many wait
}

// request is answered by its opaque; due is when it was to be sent.
type request struct {
	due    int64
	opaque int32 // 0: answered
}

func (p *pending) push(due int64, opaque int32) {
	if p.head > 64 && p.head > len(p.waiting)/2 {
		p.waiting = p.waiting[:copy(p.waiting, p.waiting[p.head:])]
		p.head = 0
	}
	p.waiting = append(p.waiting, request{due, opaque})
	p.open++
}

// answer takes the request with the opaque. If none has it, which is a fault of the server's or its nature (the floor reads no
// opaque), it takes the oldest, and known is false. Without any it is not ok.
func (p *pending) answer(opaque int32) (due int64, known, ok bool) {
	if p.open == 0 {
		return 0, false, false
	}
	at := p.head
	for i := p.head; i < len(p.waiting); i++ {
		if p.waiting[i].opaque == opaque {
			at, known = i, true
			break
		}
	}
	due = p.waiting[at].due
	p.waiting[at].opaque = 0
	p.open--
	for p.head < len(p.waiting) && p.waiting[p.head].opaque == 0 {
		p.head++
	}
	return due, known, true
}

// each calls f for the requests that wait.
func (p *pending) each(f func(due int64)) {
	for _, r := range p.waiting[p.head:] {
		if r.opaque != 0 {
			f(r.due)
		}
	}
}
