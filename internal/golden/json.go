package golden

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// quote writes a JSON string with Apache 5.5.0's escapes: quote, backslash and
// control characters only; everything from 0x7F up stays raw.
func quote(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case short[r] != "":
			b.WriteString(short[r])
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// object writes members (name → JSON text) sorted by name.
func object(members map[string]string) string {
	var parts []string
	for _, name := range sortedKeys(members) {
		parts = append(parts, quote(name)+":"+members[name])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// intObject writes integer-keyed entries by ascending key: quoted in the
// standard dialect, bare in the legacy one.
func intObject[K int32 | int64](entries map[K]string, d codec.Dialect) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		key := strconv.FormatInt(int64(k), 10)
		if d == codec.Standard {
			key = `"` + key + `"`
		}
		parts = append(parts, key+":"+entries[k])
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func array(items []string) string { return "[" + strings.Join(items, ",") + "]" }

// names writes an array of strings in the order given.
func names(list []string) string {
	var items []string
	for _, s := range list {
		items = append(items, quote(s))
	}
	return array(items)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
