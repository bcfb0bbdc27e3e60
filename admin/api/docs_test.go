package api

import (
	"os"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv"
)

// API.md has every path, parameter and kind of event.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../API.md")
	if err != nil {
		t.Fatal(err)
	}
	wanted := namesrv.EventKinds()
	for _, e := range endpoints {
		wanted = append(append(wanted, e.path), e.parameters...)
	}
	for _, name := range wanted {
		if name != "" && !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("API.md lacks %s", name)
		}
	}
}
