package conformance

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// maxLine bounds one line of a recording; the longest are registrations of some 10 KB.
const maxLine = 32 << 20

// Step is one line of a scenario: what a peer does, and the answer it got.
type Step struct {
	Conn     string            `json:"conn,omitempty"`  // connection it is sent on; opened at its first use
	Close    bool              `json:"close,omitempty"` // the peer ends the connection; nothing is sent
	Code     int32             `json:"code,omitempty"`
	Type     byte              `json:"type,omitempty"`     // 0 JSON header, 1 binary header
	Version  int32             `json:"version,omitempty"`  // 0: 477
	Language any               `json:"language,omitempty"` // name, or number in a binary header; absent: JAVA
	Flag     int32             `json:"flag,omitempty"`
	Ext      map[string]string `json:"ext,omitempty"` // nil: the header has no extFields
	Body     string            `json:"body,omitempty"`
	BodyB64  string            `json:"body_b64,omitempty"` // for bodies that are no text
	Header   string            `json:"header,omitempty"`   // sent as it stands; the members above do not count then
	Settle   bool              `json:"settle,omitempty"`   // Apache may take up to 2 s to give this answer
	Want     *Want             `json:"want,omitempty"`     // nil: no answer comes

	Ours *Want  `json:"ours,omitempty"` // where Waymark's answer is another one on purpose
	Row  string `json:"row,omitempty"`  // then: the row of COMPATIBILITY.md that says why

	Note   string `json:"note,omitempty"`   // why the step is there
	Before int    `json:"before,omitempty"` // seeds: played before this line of the capture, from 1
	Do     string `json:"do,omitempty"`     // seeds: what happens to the server, see the Do constants

	Line int `json:"-"` // in its file, from 1
}

// What a seed step can do to the server instead of sending.
const (
	// DoRestart ends the server and starts a new, empty one.
	DoRestart = "restart"
	// DoClock makes the server's time pass as recorded from here on, DoClockEnd stops that.
	DoClock    = "clock"
	DoClockEnd = "clock-end"
)

// Want is the recorded answer of a scenario step. A recording does not tell an
// empty remark, extFields or body from an absent one.
type Want struct {
	Closed  bool              `json:"closed,omitempty"` // the server ended the connection instead
	Code    int32             `json:"code"`
	Flag    int32             `json:"flag"`
	Type    byte              `json:"type"`
	Opaque  int32             `json:"opaque,omitempty"` // only where the header was sent as text
	Remark  string            `json:"remark,omitempty"`
	Ext     map[string]string `json:"ext,omitempty"`
	Body    string            `json:"body,omitempty"`
	BodyB64 string            `json:"body_b64,omitempty"`
}

// ReadScenario reads a scenario or a seed file: one Step a line.
func ReadScenario(r io.Reader) ([]Step, error) {
	var steps []Step
	err := eachLine(r, func(line int, b []byte) error {
		s := Step{Line: line}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			return err
		}
		steps = append(steps, s)
		return nil
	})
	return steps, err
}

// eachLine calls fn for every line that is not blank.
func eachLine(r io.Reader, fn func(line int, b []byte) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<16), maxLine)
	for line := 1; sc.Scan(); line++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		if err := fn(line, sc.Bytes()); err != nil {
			return fmt.Errorf("conformance: line %d: %w", line, err)
		}
	}
	return sc.Err()
}

// frame builds the bytes that the step sends.
func (s *Step) frame(opaque int32) ([]byte, error) {
	body, err := bodyBytes(s.Body, s.BodyB64)
	if err != nil {
		return nil, err
	}
	if s.Header != "" {
		return appendFrame(nil, s.Type, []byte(s.Header), body), nil
	}
	h := header{Code: s.Code, Flag: s.Flag, Opaque: opaque, Version: s.Version, Language: s.Language, Ext: s.Ext}
	if h.Version == 0 {
		h.Version = 477
	}
	text, err := h.encode(s.Type)
	if err != nil {
		return nil, err
	}
	return appendFrame(nil, s.Type, text, body), nil
}

// answer is the recorded answer to a request with that opaque, in the form that
// comparisons take; nil for none.
func (w *Want) answer(opaque int32) (*Answer, error) {
	if w == nil {
		return nil, nil
	}
	if w.Closed {
		return &Answer{Closed: true}, nil
	}
	if w.Opaque != 0 {
		opaque = w.Opaque
	}
	body, err := bodyBytes(w.Body, w.BodyB64)
	if err != nil {
		return nil, err
	}
	return &Answer{Code: w.Code, Flag: w.Flag, Type: w.Type, Opaque: opaque,
		Remark: w.Remark, HasRemark: w.Remark != "", Ext: w.Ext, Body: body}, nil
}

func bodyBytes(text, b64 string) ([]byte, error) {
	if b64 != "" {
		return base64.StdEncoding.DecodeString(b64)
	}
	return []byte(text), nil
}
