package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// bridgeOf is the name that the Hosts of a process begin all of theirs with.
func bridgeOf(pid int) string { return fmt.Sprintf("wm%db", pid) }

// ofHosts matches names of bridges, of links on them and of namespaces.
var ofHosts = regexp.MustCompile(`^wm([0-9]+)b(?:-?[0-9]+)?$`)

// leftBehind are those names that belong to Hosts of processes that aren't there any more.
func leftBehind(names []string, running func(pid int) bool) (left []string) {
	for _, name := range names {
		if m := ofHosts.FindStringSubmatch(name); m != nil {
			if pid, err := strconv.Atoi(m[1]); err == nil && !running(pid) {
				left = append(left, name)
			}
		}
	}
	return left
}

// removeLeftHosts removes what killed processes have left behind: their programs may run on in it, alone. This process has nothing yet: what
// is named by its number is of an earlier one that had the same.
func removeLeftHosts() error {
	running := func(pid int) bool {
		_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
		return err == nil && pid != os.Getpid()
	}
	links, err := names("-j link show", "ifname")
	if err != nil {
		return err
	}
	namespaces, err := names("-j netns list", "name")
	if err != nil {
		return err
	}
	var commands []string
	for _, link := range leftBehind(links, running) {
		commands = append(commands, "link del "+link)
	}
	for _, namespace := range leftBehind(namespaces, running) {
		commands = append(commands, "netns del "+namespace)
	}
	return ip(commands...)
}

// names are one field of each of what a command of the program ip lists.
func names(command, field string) ([]string, error) {
	out, err := exec.Command("ip", strings.Fields(command)...).Output()
	if err != nil {
		return nil, fmt.Errorf("harness: ip %s: %w", command, err)
	}
	if len(out) == 0 { // it prints no empty list of namespaces
		return nil, nil
	}
	var list []map[string]any
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("harness: ip %s: %w", command, err)
	}
	var found []string
	for _, entry := range list {
		if name, ok := entry[field].(string); ok {
			found = append(found, name)
		}
	}
	return found, nil
}
