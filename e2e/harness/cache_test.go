package harness

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCachedDir: a folder is filled once for a digest, and again when it isn't whole; a fill cut short leaves nothing.
func TestCachedDir(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	fills := 0
	get := func(digest string, fail error) (string, error) {
		return cachedDir(cache, "1.0", digest, func(dir string) error {
			fills++
			if err := os.WriteFile(filepath.Join(dir, "a.jar"), nil, 0o644); err != nil {
				return err
			}
			return fail
		})
	}

	cut := errors.New("cut short")
	if _, err := get("first", cut); !errors.Is(err, cut) {
		t.Fatalf("failed fill: error %v", err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 0 {
		t.Fatalf("a failed fill left %v, error %v", left, err)
	}
	for step, want := range []int{2, 2} { // filled, then found
		dir, err := get("first", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.jar")); err != nil {
			t.Error(err)
		}
		if fills != want {
			t.Errorf("step %d: %d fills, want %d", step, fills, want)
		}
	}
	if _, err := get("second", nil); err != nil || fills != 3 {
		t.Errorf("another digest: %d fills, want 3; error %v", fills, err)
	}
	if err := os.Remove(filepath.Join(cache, "1.0", completeFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := get("second", nil); err != nil || fills != 4 {
		t.Errorf("incomplete folder: %d fills, want 4; error %v", fills, err)
	}
}

// TestDigestOf: every file counts.
func TestDigestOf(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]bool{}
	for _, texts := range [][2]string{{"a", "b"}, {"a", "c"}, {"d", "c"}} {
		for i, file := range []string{"manifest", "lock"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(texts[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		digest, err := digestOf(dir, "manifest", "lock")
		if err != nil || seen[digest] {
			t.Errorf("%v: digest %q, seen before: %v, error %v", texts, digest, seen[digest], err)
		}
		seen[digest] = true
	}
	if _, err := digestOf(dir, "missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}
