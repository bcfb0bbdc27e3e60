package harness

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Connections counts the established TCP connections of the process by the address of the other end, as the kernel
// lists them.
func (p *Process) Connections() (map[string]int, error) {
	connections, err := connectionsOf(p.PID())
	if err != nil {
		return nil, fmt.Errorf("harness: connections of %s: %w", p.name, err)
	}
	return connections, nil
}

func connectionsOf(pid int) (map[string]int, error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	inodes, err := socketsOf(proc)
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, table := range []string{"tcp", "tcp6"} {
		file, err := os.Open(filepath.Join(proc, "net", table))
		if errors.Is(err, fs.ErrNotExist) { // a system without IPv6
			continue
		}
		if err != nil {
			return nil, err
		}
		err = countEstablished(file, inodes, found)
		file.Close()
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// socketsOf returns the inodes of a process's open sockets.
func socketsOf(proc string) (map[string]bool, error) {
	dir := filepath.Join(proc, "fd")
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	inodes := map[string]bool{}
	for _, file := range files {
		target, err := os.Readlink(filepath.Join(dir, file.Name()))
		if err != nil { // closed in between
			continue
		}
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return inodes, nil
}

// Columns of the kernel's tables of TCP sockets.
const (
	remoteColumn = 2
	stateColumn  = 3
	inodeColumn  = 9

	stateEstablished = "01"
)

// countEstablished adds to found the established connections of a table that belong to one of the inodes.
func countEstablished(table io.Reader, inodes map[string]bool, found map[string]int) error {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) <= inodeColumn || columns[stateColumn] != stateEstablished || !inodes[columns[inodeColumn]] {
			continue
		}
		remote, err := parseKernelAddr(columns[remoteColumn])
		if err != nil {
			return err
		}
		found[remote.String()]++
	}
	return lines.Err()
}

// parseKernelAddr reads an address as the tables print it: 32-bit words in the machine's order, a colon and the port.
// An IPv4 address that is mapped into IPv6 comes out as IPv4.
func parseKernelAddr(text string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(text, ":")
	words, err := hex.DecodeString(host)
	if err != nil || len(words)%4 != 0 {
		return netip.AddrPort{}, fmt.Errorf("address %q in the kernel's table", text)
	}
	for i := 0; i < len(words); i += 4 {
		binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(words[i:]))
	}
	addr, ok := netip.AddrFromSlice(words)
	number, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q in the kernel's table", text)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(number)), nil
}
