package codec

import "testing"

func TestLanguage(t *testing.T) {
	names := []string{"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS"}
	for number, name := range names {
		l := Language(number)
		if l.String() != name || languageOfName([]byte(name)) != l || languageOfNumber(int32(number)) != l {
			t.Errorf("%d: %v, by name %v, by number %v, want %s", number, l, languageOfName([]byte(name)), languageOfNumber(int32(number)), name)
		}
	}
	if LanguageNodeJS != 13 || LanguageGo != 9 || LanguageOther != 7 {
		t.Error("the constants have moved")
	}
	for _, name := range []string{"", "java", "ZIG", "unknown"} {
		if l := languageOfName([]byte(name)); l != LanguageUnknown {
			t.Errorf("%q: %v", name, l)
		}
	}
	if s := LanguageUnknown.String(); s != "unknown" {
		t.Errorf("unknown: %q", s)
	}
}
