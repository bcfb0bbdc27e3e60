package profiles

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

//go:embed *.toml
var files embed.FS

const extension = ".toml"

// Profile is a load profile.
type Profile struct {
	Name     string
	About    string // whom it imitates, in a line
	Variants []Variant
}

// Variant is one load of a profile. A profile without variants has one without a name.
type Variant struct {
	Name  string
	Full  Workload
	Smoke Workload // the same at a size that runs within a second or two
}

// Names returns the names of the profiles that come with the program, in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the embedded folder is always there
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), extension)
	}
	return names
}

// Load reads a profile that comes with the program.
func Load(name string) (*Profile, error) {
	text, err := files.ReadFile(name + extension)
	if err != nil {
		return nil, fmt.Errorf("profiles: no profile %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return Parse(name, string(text))
}

// LoadFile reads a profile from a file of its own; it is named for the file.
func LoadFile(path string) (*Profile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	return Parse(strings.TrimSuffix(filepath.Base(path), extension), string(text))
}

// file is a profile as it is written. What stands in a variant or in smoke is decoded over a copy of the workload.
type file struct {
	About string
	Workload
	Variant []toml.Primitive
	Smoke   toml.Primitive
}

type variant struct {
	Name string
	Workload
}

// Parse reads the text of a profile. Errors name the profile and the key.
func Parse(name, text string) (*Profile, error) {
	p, err := parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("profiles: %s: %w", name, err)
	}
	return p, nil
}

func parse(name, text string) (*Profile, error) {
	f := file{Workload: defaults()}
	meta, err := toml.Decode(text, &f)
	if err != nil {
		return nil, err
	}
	if f.About == "" {
		return nil, fmt.Errorf("about: missing; say whom the profile imitates")
	}
	written := []variant{{Workload: f.Workload}}
	if len(f.Variant) > 0 {
		written = make([]variant, len(f.Variant))
	}
	for i, v := range f.Variant {
		written[i] = variant{Workload: f.Workload}
		if err := meta.PrimitiveDecode(v, &written[i]); err != nil {
			return nil, fmt.Errorf("variant %d: %w", i+1, err)
		}
	}
	p := &Profile{Name: name, About: f.About}
	seen := map[string]bool{}
	for i, v := range written {
		if len(f.Variant) > 0 && (v.Name == "" || seen[v.Name]) {
			return nil, fmt.Errorf("variant %d: name: %q, missing or taken", i+1, v.Name)
		}
		seen[v.Name] = true
		smoke := v.Workload
		if meta.IsDefined("smoke") {
			if err := meta.PrimitiveDecode(f.Smoke, &smoke); err != nil {
				return nil, fmt.Errorf("smoke: %w", err)
			}
		}
		if err := v.Workload.Validate(); err != nil {
			return nil, named(v.Name, err)
		}
		if err := smoke.Validate(); err != nil {
			return nil, named(v.Name, fmt.Errorf("at its smoke size: %w", err))
		}
		p.Variants = append(p.Variants, Variant{Name: v.Name, Full: v.Workload, Smoke: smoke})
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown key", unknown[0])
	}
	return p, nil
}

func named(variant string, err error) error {
	if variant == "" {
		return err
	}
	return fmt.Errorf("variant %s: %w", variant, err)
}
