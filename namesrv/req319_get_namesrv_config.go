package namesrv

// getNamesrvConfig answers GET_NAMESRV_CONFIG (319).
//
// Request:  nothing.
// Response: 0, one key=value line for each key, sorted, values unescaped.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  keys of ours are listed only when they are set.
func (l *loop) getNamesrvConfig(dst []byte) []byte {
	c := l.settings.Load()
	if l.shown != c {
		l.shown, l.shownText = c, c.Text()
	}
	return l.succeed(dst, l.shownText)
}
