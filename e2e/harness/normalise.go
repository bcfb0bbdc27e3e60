package harness

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// versionColumn is the column of clusterList after which only measured numbers and one flag follow.
	versionColumn = regexp.MustCompile(`\bV\d+_\d+_\d+\b`)
	number        = regexp.MustCompile(`\d+(\.\d+)?`)
	blanks        = regexp.MustCompile(`[ \t]+`)
)

// Normaliser makes the output of one admin command on one nameserver comparable with that on another: it names what
// belongs to that nameserver alone.
type Normaliser struct{ names []string }

// NewNormaliser returns a normaliser that replaces the addresses and folders of a nameserver and its broker by names.
func NewNormaliser(n *Nameserver, b *Broker) *Normaliser {
	return &Normaliser{names: []string{
		n.Addr, "<nameserver>",
		b.Addr, "<broker>",
		n.Dir, "<home>",
		portOf(n.Addr), "<port>",
	}}
}

func portOf(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

// Normalise also removes what is measured (rates, waits, hours, disk space in clusterList) and runs of blanks, since
// columns are as wide as what stands in them. With unordered, lines are sorted: Apache lists topics in the order of a
// hash map.
func (n *Normaliser) Normalise(output string, unordered bool) string {
	output = strings.NewReplacer(n.names...).Replace(output)
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range lines {
		if at := versionColumn.FindStringIndex(line); at != nil {
			line = line[:at[1]] + number.ReplaceAllString(line[at[1]:], "#")
		}
		lines[i] = strings.TrimSpace(blanks.ReplaceAllString(line, " "))
	}
	if unordered {
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n")
}
