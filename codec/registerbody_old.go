package codec

// parseOld reads the form of brokers before 3.0.11: the wrapper is the whole
// body, and there is no filter list, so the known one stays. A body of a later
// form reads as an empty table here, as it does with Apache.
func (p *registerParser) parseOld(b []byte) error {
	p.reset(b)
	p.resetTable()
	if p.root() {
		p.wrapperMembers()
	}
	return p.finish()
}
