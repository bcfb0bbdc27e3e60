package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// completeFile marks a folder of jars as whole. It holds the hash of the pom.xml that the jars were fetched by, so that
// a changed pom.xml fetches anew.
const completeFile = ".complete"

// Jars is a folder with Apache RocketMQ's jars of one version and all they need.
type Jars struct {
	Version string
	Dir     string
}

func (j Jars) classPath() string { return filepath.Join(j.Dir, "*") }

// Jars returns the jars of a version from the cache, and fetches them by Maven first if they are not there. The cache
// is waymark-e2e below XDG_CACHE_HOME or ~/.cache.
func (j *Java) Jars(version string) (Jars, error) {
	j.fetching.Lock()
	defer j.fetching.Unlock()
	cache, err := cacheDir()
	if err != nil {
		return Jars{}, err
	}
	pom := filepath.Join(j.peers, "pom.xml")
	dir, err := cachedDir(cache, version, pom, func(dir string) error { return fetchByMaven(pom, version, dir) })
	if err != nil {
		return Jars{}, err
	}
	return Jars{Version: version, Dir: dir}, nil
}

func cacheDir() (string, error) {
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("harness: cache folder: %w", err)
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "waymark-e2e"), nil
}

// cachedDir returns cache/version when it is complete for the pom. Otherwise it lets fetch fill a folder aside and
// renames that into place, so that a fetch cut short leaves nothing that looks whole.
func cachedDir(cache, version, pom string, fetch func(dir string) error) (string, error) {
	text, err := os.ReadFile(pom)
	if err != nil {
		return "", fmt.Errorf("harness: %w", err)
	}
	sum := sha256.Sum256(text)
	want := hex.EncodeToString(sum[:])
	dir := filepath.Join(cache, version)
	if isComplete(dir, want) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	aside, err := os.MkdirTemp(cache, version+"-fetching-")
	if err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	defer os.RemoveAll(aside) // nothing is left to remove after the rename
	if err := fetch(aside); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(aside, completeFile), []byte(want), 0o644); err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	if isComplete(dir, want) { // another process was faster
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	if err := os.Rename(aside, dir); err != nil && !isComplete(dir, want) {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	return dir, nil
}

func isComplete(dir, want string) bool {
	got, err := os.ReadFile(filepath.Join(dir, completeFile))
	return err == nil && string(got) == want
}

func fetchByMaven(pom, version, dir string) error {
	mvn, err := findTool("mvn")
	if err != nil {
		return fmt.Errorf("harness: jars of %s are not cached: %w", version, err)
	}
	cmd := exec.Command(mvn, "-q", "-B", "-f", pom, "-Drocketmq.version="+version,
		"dependency:copy-dependencies", "-DoutputDirectory="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("harness: fetch jars of %s: %w\n%s", version, err, out)
	}
	return nil
}
