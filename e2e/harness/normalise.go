package harness

import (
	"regexp"
	"slices"
	"strings"
)

// Normaliser makes the output of one admin command on one nameserver comparable with that on another: it names what
// belongs to that nameserver alone, and takes out what no two runs have in common.
type Normaliser struct{ names *strings.Replacer }

// NewNormaliser returns a normaliser that replaces the addresses, ports and folders of a nameserver, its broker and the
// admin tool by names.
func NewNormaliser(n *Nameserver, b *Broker, toolHome string) *Normaliser {
	return &Normaliser{names: strings.NewReplacer(
		n.Addr, "<nameserver>",
		b.Addr, "<broker>",
		n.Dir, "<home>",
		b.Dir, "<broker home>",
		toolHome, "<tool home>",
		"= "+portOf(n.Addr)+"\n", "= <port>\n",
		"= "+portOf(b.Addr)+"\n", "= <broker port>\n",
		"= "+portOf(b.HAAddr())+"\n", "= <broker HA port>\n",
	)}
}

func portOf(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

// Normalise replaces what every command's output may hold, and then applies the rules for this command's.
func (n *Normaliser) Normalise(output string, rules ...Rule) string {
	output = layout.apply(output + "\n")
	output = passing.apply(n.names.Replace(output))
	output = inVersionLines(output)
	for _, rule := range rules {
		output = rule(output)
	}
	return strings.TrimSpace(output)
}

type replacements []struct {
	what *regexp.Regexp
	by   string
}

func (r replacements) apply(text string) string {
	for _, one := range r {
		text = one.what.ReplaceAllString(text, one.by)
	}
	return text
}

// layout: columns are as wide as what stands in them.
var layout = replacements{
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m)^ | $`), ""},
}

// passing is what differs from one run to the next.
var passing = replacements{
	// Where in the tool an exception came from depends on how the tool was started.
	{regexp.MustCompile(`(?m)^(at \S+\(.*\)|\.\.\. \d+ more)\n`), ""},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[ #]\d\d:\d\d:\d\d([,:.]\d{3})?`), "<time>"},
	{regexp.MustCompile(`\b20\d{15}\b`), "<time>"},
	{regexp.MustCompile(`\b1\d{12}\b`), "<milliseconds>"},
	{regexp.MustCompile(`\b[0-9A-F]{32}`), "<message>"},
	// A client calls itself by its host and by its process, or a time, or a hash.
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+@(\w+_)?-?(\d+|<milliseconds>)(#\d+)?`), "<client id>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<client>"},
	// A broker also logs what has times in it, and so a length of its own.
	{regexp.MustCompile(`(commitLogOffset=|physicOffset=|CommitLog Offset: |CommitLogMaxOffset |<message>@)\d+`), "$1<offset>"},
	{regexp.MustCompile(`\b(TPS: |RT: )[\d.]+`), "$1#"},
	{regexp.MustCompile(`\b\d+ms\b`), "#ms"},
}

var (
	// versionColumn is the column of clusterList after which only measured numbers and one flag follow.
	versionColumn = regexp.MustCompile(`\bV\d+_\d+_\d+\b.*`)
	number        = regexp.MustCompile(`\b\d+(\.\d+)?`)
)

func inVersionLines(output string) string {
	return versionColumn.ReplaceAllStringFunc(output, func(rest string) string {
		version, numbers, _ := strings.Cut(rest, " ")
		return version + " " + number.ReplaceAllString(numbers, "#")
	})
}

// Rule is what else has to be done to the output of a command.
type Rule func(output string) string

// Sorted sorts the lines of what is printed in the order of a hash table.
func Sorted(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Lines leaves only the lines that match a pattern.
func Lines(pattern string) Rule {
	match := regexp.MustCompile(pattern).MatchString
	return func(output string) string {
		lines := strings.Split(output, "\n")
		return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return !match(line) }), "\n")
	}
}

// Distinct leaves one of neighbouring lines that are the same.
func Distinct(output string) string {
	return strings.Join(slices.Compact(strings.Split(output, "\n")), "\n")
}

// Keys leaves only the keys of a list of keys with measured values, "key : value" or "key":"value".
func Keys(output string) string { return keyed.ReplaceAllString(output, "$1") }

var keyed = regexp.MustCompile(`(?m)^("?[^:\n]+?"?) ?:.*$`)

// Numbers takes out every number that is a word of its own: a command that measures.
func Numbers(output string) string { return alone.ReplaceAllString(output, "${1}#") }

var alone = regexp.MustCompile(`(?m)(^|[ :=])-?\d+(?:\.\d+)?\b`)
