package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// completeFile marks a folder of the cache as whole. It holds the digest of what the folder was made from, so that a
// change there makes it anew.
const completeFile = ".complete"

// cacheDir is what runs share: waymark-e2e below XDG_CACHE_HOME or ~/.cache.
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

// cachedDir returns cache/name when it is complete for the digest. Otherwise it lets fill fill a folder aside and
// renames that into place, so that a fetch cut short leaves nothing that looks whole.
func cachedDir(cache, name, digest string, fill func(dir string) error) (string, error) {
	dir := filepath.Join(cache, name)
	if isComplete(dir, digest) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	aside, err := os.MkdirTemp(cache, name+"-fetching-")
	if err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	defer os.RemoveAll(aside) // nothing is left to remove after the rename
	if err := fill(aside); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(aside, completeFile), []byte(digest), 0o644); err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	if isComplete(dir, digest) { // another process was faster
		return dir, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	if err := os.Rename(aside, dir); err != nil && !isComplete(dir, digest) {
		return "", fmt.Errorf("harness: cache folder: %w", err)
	}
	return dir, nil
}

func isComplete(dir, digest string) bool {
	got, err := os.ReadFile(filepath.Join(dir, completeFile))
	return err == nil && string(got) == digest
}

// digestOf is the digest of the files' contents, in the order given.
func digestOf(dir string, files ...string) (string, error) {
	hash := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return "", fmt.Errorf("harness: %w", err)
		}
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// copyFiles copies files of a folder to another.
func copyFiles(from, to string, files ...string) error {
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(from, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, file), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("harness: %w", err)
		}
	}
	return nil
}
