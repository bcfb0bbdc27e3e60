package settings

import (
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/waymark-mq/waymark/namesrv/access"
)

// checkAllowList, checkMode and the others below tell why a text is no value of their key.
func checkAllowList(text string) error {
	_, err := access.ParseList(text)
	return err
}

func checkMode(text string) error {
	_, err := access.ParseMode(text)
	return err
}

func checkLogLevel(text string) error {
	if _, ok := logLevels[strings.ToLower(text)]; !ok {
		return fmt.Errorf("%s is none of debug, info, warn, error", quote(text))
	}
	return nil
}

func checkLogFormat(text string) error {
	if !strings.EqualFold(text, "text") && !strings.EqualFold(text, "json") {
		return fmt.Errorf("%s is neither text nor json", quote(text))
	}
	return nil
}

// checkIdleTime refuses times that would close every broker's connection, and so remove the broker, between two registrations.
func checkIdleTime(s *Settings) error {
	const least = 30
	if n := s.ServerChannelMaxIdleTimeSeconds; n > 0 && n < least {
		return fmt.Errorf("%d would close the connections of brokers, which send something every %d s", n, least)
	}
	return nil
}

// checkBindAddress takes what may be an address or the name of a host. Whether the machine has it shows at the start alone.
func checkBindAddress(text string) error {
	if _, err := netip.ParseAddr(text); err == nil || text == "" {
		return nil
	}
	if strings.Trim(text, "0123456789.") == "" || !isHostName(text) {
		return fmt.Errorf("%s is neither an address nor the name of a host", quote(text))
	}
	return nil
}

// isHostName takes the underscore too, which names in use have.
func isHostName(text string) bool {
	const mostName, mostLabel = 253, 63
	if len(text) > mostName {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(text, "."), ".") {
		if label == "" || len(label) > mostLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
				return false
			}
		}
	}
	return true
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// Level is the least level of lines that are logged.
func (s *Settings) Level() slog.Level { return logLevels[strings.ToLower(s.LogLevel)] }

// LogFile is the file that the log goes to; "": standard error. ${user.home} in logDir is the user's home, as in Apache's.
func (s *Settings) LogFile(env Env) string {
	if s.LogDir == "" {
		return ""
	}
	return filepath.Join(strings.ReplaceAll(s.LogDir, "${user.home}", env.HomeDir), "namesrv.log")
}

// ProbeAllow are the addresses of probeAllowList. Settings that came through Load have no error.
func (s *Settings) ProbeAllow() (access.List, error) {
	l, err := access.ParseList(s.ProbeAllowList)
	if err != nil {
		return l, fmt.Errorf("settings: probeAllowList: %w", err)
	}
	return l, nil
}

// Access are the rules of who may do what; nil if there are none. Settings that came through Load have no error.
func (s *Settings) Access() (*access.Rules, error) {
	c := access.Config{ReadOnly: s.ReadOnly}
	for _, list := range []struct {
		key, text string
		to        *access.List
	}{{"adminAllowList", s.AdminAllowList, &c.AdminAllow}, {"brokerAllowList", s.BrokerAllowList, &c.BrokerAllow}} {
		l, err := access.ParseList(list.text)
		if err != nil {
			return nil, fmt.Errorf("settings: %s: %w", list.key, err)
		}
		*list.to = l
	}
	for _, mode := range []struct {
		key, text string
		to        *access.Mode
	}{
		{"adminAllowListMode", s.AdminAllowListMode, &c.AdminMode}, {"brokerAllowListMode", s.BrokerAllowListMode, &c.BrokerMode},
		{"readOnlyMode", s.ReadOnlyMode, &c.ReadOnlyMode},
	} {
		m, err := access.ParseMode(mode.text)
		if err != nil {
			return nil, fmt.Errorf("settings: %s: %w", mode.key, err)
		}
		*mode.to = m
	}
	return access.New(c), nil
}
