package harness

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCachedDir(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	pom := filepath.Join(t.TempDir(), "pom.xml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(pom, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fetches := 0
	get := func(fail error) (string, error) {
		return cachedDir(cache, "1.0", pom, func(dir string) error {
			fetches++
			if err := os.WriteFile(filepath.Join(dir, "a.jar"), nil, 0o644); err != nil {
				return err
			}
			return fail
		})
	}
	write("first")

	cut := errors.New("cut short")
	if _, err := get(cut); !errors.Is(err, cut) {
		t.Fatalf("failed fetch: error %v", err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) != 0 {
		t.Fatalf("a failed fetch left %v, error %v", left, err)
	}
	for step, want := range []int{2, 2} { // fetched, then found
		dir, err := get(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "a.jar")); err != nil {
			t.Error(err)
		}
		if fetches != want {
			t.Errorf("step %d: %d fetches, want %d", step, fetches, want)
		}
	}
	write("second")
	if _, err := get(nil); err != nil || fetches != 3 {
		t.Errorf("changed pom.xml: %d fetches, want 3; error %v", fetches, err)
	}
	if err := os.Remove(filepath.Join(cache, "1.0", completeFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := get(nil); err != nil || fetches != 4 {
		t.Errorf("incomplete folder: %d fetches, want 4; error %v", fetches, err)
	}
}
