package api

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// answer writes a JSON document. What is written may leave before the document is complete.
type answer struct {
	w     http.ResponseWriter
	out   *bufio.Writer
	items int // of the list under way
	began bool
}

// bufferBytes is how much of an answer is held before it leaves.
const bufferBytes = 32 << 10

func newAnswer(w http.ResponseWriter) *answer {
	// A reader that doesn't read ends its own request; where the server can't set a deadline, it has one of its own.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	return &answer{w: w, out: bufio.NewWriterSize(w, bufferBytes)}
}

func (a *answer) header() http.Header { return a.w.Header() }

// flush sends what is left. A reader that has gone hears nothing of it.
func (a *answer) flush() { _ = a.out.Flush() }

// write appends a value and a line's end.
func (a *answer) write(v any) {
	a.began = true
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // our own types; a write error shows in flush, to nobody
}

// begin starts a document that has a list of that name first.
func (a *answer) begin(list string) {
	a.began, a.items = true, 0
	fmt.Fprintf(a.out, "{%q:[\n", list)
}

// item appends an element, on a line of its own.
func (a *answer) item(v any) {
	if a.items++; a.items > 1 {
		_ = a.out.WriteByte(',')
	}
	a.write(v)
}

// end closes the list and the document; rest, a struct or nil, has its other fields.
func (a *answer) end(rest any) {
	_, _ = a.out.WriteString("]")
	if rest != nil {
		if b, err := json.Marshal(rest); err == nil && len(b) > len("{}") {
			_ = a.out.WriteByte(',')
			_, _ = a.out.Write(b[1 : len(b)-1])
		}
	}
	_, _ = a.out.WriteString("}\n")
}

// failure is an error as it is answered.
type failure struct {
	status  int
	code    string // for programs
	message string
}

func (f failure) Error() string { return f.message }

func badRequest(format string, a ...any) error {
	return failure{http.StatusBadRequest, "bad_request", fmt.Sprintf(format, a...)}
}

func notFound(format string, a ...any) error {
	return failure{http.StatusNotFound, "not_found", fmt.Sprintf(format, a...)}
}

// errorText is the error of an answer.
type errorText struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// fail answers with an error, unless a part of the answer may have left.
func (a *answer) fail(err error) {
	f := failure{http.StatusInternalServerError, "internal", err.Error()}
	if !errors.As(err, &f) {
		f = failure{http.StatusServiceUnavailable, "busy", err.Error()}
	}
	a.failWith(f, nil)
}

// failWith is fail with further fields, a struct or nil.
func (a *answer) failWith(f failure, more any) {
	if a.began {
		return
	}
	a.w.WriteHeader(f.status)
	a.write(struct {
		Error errorText `json:"error"`
		Why   any       `json:"why,omitempty"`
	}{errorText{f.code, f.message}, more})
}
