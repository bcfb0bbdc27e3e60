package codec

// Language is the programming language of a frame's sender. A nameserver
// makes nothing of it. Source: Apache RocketMQ 5.5.0, LanguageCode.
type Language uint8

const (
	LanguageJava Language = iota
	LanguageCPP
	LanguageDotNet
	LanguagePython
	LanguageDelphi
	LanguageErlang
	LanguageRuby
	LanguageOther
	LanguageHTTP
	LanguageGo
	LanguagePHP
	LanguageOMS
	LanguageRust
	LanguageNodeJS

	// LanguageUnknown stands for every name and number that is not in the list.
	// In a JSON header it is left out.
	LanguageUnknown Language = 0xFF
)

var languageNames = [...]string{
	"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY",
	"OTHER", "HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS",
}

// String returns the name as JSON headers spell it, or "unknown".
func (l Language) String() string {
	if int(l) < len(languageNames) {
		return languageNames[l]
	}
	return "unknown"
}

func languageOfName(name []byte) Language {
	for i := range languageNames {
		if string(name) == languageNames[i] {
			return Language(i)
		}
	}
	return LanguageUnknown
}

func languageOfNumber(n int32) Language {
	if n >= 0 && int(n) < len(languageNames) {
		return Language(n)
	}
	return LanguageUnknown
}
