package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// Two answers are the same if they differ in nothing but the order of list
// elements and map entries: the bodies parsed and put in order must be equal,
// and so must their bytes when sorted, so that quoting and spelling count too.
// Free are the header's version, the Java stack at the end of a remark, and
// which broker's address answers a 304.

// differ says in what got differs from want; "" if they are the same to a peer.
// exact is for answers recorded as frames: there an absent remark or extFields
// differs from an empty one.
func differ(want, got *Answer, exact bool) string {
	switch {
	case want == nil && got == nil:
		return ""
	case want == nil || got == nil:
		return fmt.Sprintf("want %s, got %s", want, got)
	case want.Closed || got.Closed:
		if want.Closed == got.Closed {
			return ""
		}
		return fmt.Sprintf("want %s, got %s", want, got)
	case want.Code != got.Code:
		return fmt.Sprintf("code: want %d (%s), got %d (%s)", want.Code, want.Remark, got.Code, got.Remark)
	case want.Type != got.Type || want.Flag != got.Flag:
		return fmt.Sprintf("type and flag: want %d %d, got %d %d", want.Type, want.Flag, got.Type, got.Flag)
	case want.Opaque != got.Opaque:
		return fmt.Sprintf("opaque: want %d, got %d", want.Opaque, got.Opaque)
	case withoutStack(want.Remark) != withoutStack(got.Remark), exact && want.HasRemark != got.HasRemark:
		return fmt.Sprintf("remark: want %q, got %q", want.Remark, got.Remark)
	case !maps.Equal(want.Ext, got.Ext), exact && (want.Ext == nil) != (got.Ext == nil):
		return fmt.Sprintf("extFields: want %s, got %s", extText(want.Ext), extText(got.Ext))
	}
	return differBody(want.Body, got.Body)
}

func differBody(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	want, got = freeAddr.ReplaceAll(want, anyAddr), freeAddr.ReplaceAll(got, anyAddr)
	w, errWant := canonical(want)
	g, errGot := canonical(got)
	if errWant != nil || errGot != nil {
		w, g = sortedLines(want), sortedLines(got)
	}
	if w != g {
		return fmt.Sprintf("body: want %s\n got %s", want, got)
	}
	if !bytes.Equal(sortedBytes(want), sortedBytes(got)) {
		return fmt.Sprintf("spelling of the body: want %s\n got %s", want, got)
	}
	return ""
}

var (
	freeAddr = regexp.MustCompile(`"brokerAddr":"[^"]*"`)
	anyAddr  = []byte(`"brokerAddr":"any"`)
)

// withoutStack cuts the Java stack off a remark.
func withoutStack(remark string) string {
	for _, mark := range []string{", org.apache.rocketmq.", "\n\tat "} {
		if i := strings.Index(remark, mark); i > 0 {
			remark = remark[:i]
		}
	}
	return strings.TrimSuffix(remark, ", ")
}

// bareKeyEscape begins keys that stood without quotes; no recorded key does so.
const bareKeyEscape = `\u0001`

// canonical is the body's text with maps and lists in order. Keys that stood
// bare, as integer keys do in Java's own dialect, stay apart from quoted ones.
func canonical(body []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(quoteBareKeys(body)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	if d.More() {
		return "", fmt.Errorf("conformance: more after the JSON value")
	}
	var b strings.Builder
	appendCanonical(&b, v)
	return b.String(), nil
}

func quoteBareKeys(body []byte) []byte {
	out := make([]byte, 0, len(body)+16)
	quoted := false
	for i := 0; i < len(body); i++ {
		c := body[i]
		out = append(out, c)
		switch {
		case quoted && c == '\\' && i+1 < len(body):
			i++
			out = append(out, body[i])
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == ','):
			if key := bareKeyAt(body[i+1:]); key != nil {
				out = append(append(out, '"'), bareKeyEscape...)
				out = append(append(out, key...), '"')
				i += len(key)
			}
		}
	}
	return out
}

// bareKeyAt returns the unquoted key with which b starts; nil if there is none.
func bareKeyAt(b []byte) []byte {
	for i, c := range b {
		switch {
		case c == ':' && i > 0:
			return b[:i]
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c == '-':
		default:
			return nil
		}
	}
	return nil
}

func appendCanonical(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(b, "%q:", key)
			appendCanonical(b, v[key])
			b.WriteByte(',')
		}
		b.WriteByte('}')
	case []any:
		items := make([]string, len(v))
		for i := range v {
			var item strings.Builder
			appendCanonical(&item, v[i])
			items[i] = item.String()
		}
		sort.Strings(items)
		b.WriteString("[" + strings.Join(items, ",") + "]")
	case string:
		fmt.Fprintf(b, "%q", v)
	default: // json.Number, bool, nil
		fmt.Fprint(b, v)
	}
}

func sortedLines(b []byte) string {
	lines := strings.Split(string(b), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func sortedBytes(b []byte) []byte {
	b = slices.Clone(b)
	slices.Sort(b)
	return b
}

func extText(ext map[string]string) string {
	if ext == nil {
		return "none"
	}
	return fmt.Sprint(ext)
}

// String shows an answer in a report.
func (a *Answer) String() string {
	switch {
	case a == nil:
		return "no answer"
	case a.Closed:
		return "the end of the connection"
	}
	return fmt.Sprintf("code %d flag %d type %d opaque %d remark %q extFields %s body %q",
		a.Code, a.Flag, a.Type, a.Opaque, a.Remark, extText(a.Ext), a.Body)
}
