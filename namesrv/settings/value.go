package settings

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waymark-mq/waymark/internal/excerpt"
)

// trim cuts blanks and control characters off both ends, as Java's String.trim.
func trim(value string) string {
	return strings.TrimFunc(value, func(r rune) bool { return r <= ' ' })
}

// isControl reports the characters that end lines or drive terminals. U+0080 to
// U+009F are left alone: UTF-8 text in a properties body reads as ISO-8859-1,
// where many of its bytes become just these, and Apache takes it.
func isControl(r rune) bool { return r < ' ' || r == 0x7F }

// set parses text as a value of the key and stores it in s. The error is the
// reason alone; s is unchanged then.
func (k *Key) set(s *Settings, text string) error {
	text = trim(text)
	switch field := k.field(s).(type) {
	case *string:
		return k.setString(field, text)
	case *bool:
		switch {
		case strings.EqualFold(text, "true"):
			if k.whyNotTrue != "" {
				return errors.New(k.whyNotTrue)
			}
			*field = true
		case strings.EqualFold(text, "false"):
			*field = false
		default:
			return fmt.Errorf("%s is neither true nor false", quote(text))
		}
	case *int:
		n, err := k.parseNumber(text, 32)
		if err != nil {
			return err
		}
		*field = int(n)
	case *int64:
		n, err := k.parseNumber(text, 64)
		if err != nil {
			return err
		}
		*field = n
	}
	return nil
}

func (k *Key) setString(field *string, text string) error {
	if strings.ContainsFunc(text, isControl) {
		return fmt.Errorf("%s holds control characters", quote(text))
	}
	if text == "" && k.NotEmpty {
		return errors.New("must not be empty")
	}
	if k.check != nil {
		if err := k.check(text); err != nil {
			return err
		}
	}
	*field = text
	return nil
}

func (k *Key) parseNumber(text string, bits int) (int64, error) {
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s is no %s", quote(text), k.Type())
	}
	if k.OrZero && n == 0 {
		return 0, nil
	}
	if k.Max > k.Min && (n < k.Min || n > k.Max) {
		return 0, fmt.Errorf("%d is outside %d to %d", n, k.Min, k.Max)
	}
	return n, nil
}

// text is the value of the key in s as Apache prints it.
func (k *Key) text(s *Settings) string {
	switch field := k.field(s).(type) {
	case *bool:
		return strconv.FormatBool(*field)
	case *int:
		return strconv.Itoa(*field)
	case *int64:
		return strconv.FormatInt(*field, 10)
	case *string:
		return *field
	}
	return ""
}

// quote shows as much of a value that a peer or a file chose as an error can bear.
func quote(text string) string { return strconv.Quote(excerpt.Of(text, 64)) }
