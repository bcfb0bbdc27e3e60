package core_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// scriptLine is one command of a script: words, and options name=value.
type scriptLine struct {
	cmd   string
	args  []datadriven.CmdArg
	input string
}

// words are the arguments without a value.
func (l *scriptLine) words() (words []string) {
	for _, a := range l.args {
		if a.Vals == nil {
			words = append(words, a.Key)
		}
	}
	return words
}

// word is the nth argument without a value, "" if there are fewer.
func (l *scriptLine) word(n int) string {
	if words := l.words(); n < len(words) {
		return words[n]
	}
	return ""
}

// rest are the words after the first.
func (l *scriptLine) rest() []string { return l.words()[min(1, len(l.words())):] }

// values are those of an option; ok tells whether it is there.
func (l *scriptLine) values(name string) (values []string, ok bool) {
	i := slices.IndexFunc(l.args, func(a datadriven.CmdArg) bool { return a.Key == name && a.Vals != nil })
	if i < 0 {
		return nil, false
	}
	return slices.DeleteFunc(slices.Clone(l.args[i].Vals), func(v string) bool { return v == "" }), true
}

// option is an option's one value, or what stands for it.
func (l *scriptLine) option(name, absent string) string {
	if values, ok := l.values(name); ok {
		return strings.Join(values, ",")
	}
	return absent
}

func (l *scriptLine) number(name string, absent int64) (int64, error) {
	return strconv.ParseInt(l.option(name, strconv.FormatInt(absent, 10)), 10, 64)
}

// nullOption is an option's value, null if it isn't there.
func (l *scriptLine) nullOption(name string) codec.NullString {
	_, ok := l.values(name)
	return codec.NullString{S: l.option(name, ""), Valid: ok}
}

type scriptBroker struct {
	cluster, name, addr string
	id                  int64
}

var scriptBrokerForm = regexp.MustCompile(`^([^/#@]+)/([^/#@]+)(?:#(-?\d+))?@(.+)$`)

// broker reads the first word, cluster/name#id@address.
func (l *scriptLine) broker() (b scriptBroker, err error) {
	m := scriptBrokerForm.FindStringSubmatch(l.word(0))
	if m == nil {
		return b, fmt.Errorf("%q is not cluster/name#id@address", l.word(0))
	}
	b = scriptBroker{cluster: m[1], name: m[2], addr: m[4]}
	if m[3] != "" {
		b.id, err = strconv.ParseInt(m[3], 10, 64)
	}
	return b, err
}

func (l *scriptLine) dataVersion() (v codec.DataVersion, err error) {
	v.Timestamp = wallMillis
	if v.StateVersion, err = l.number("sv", 0); err != nil {
		return v, err
	}
	v.Counter, err = l.number("n", 1)
	return v, err
}

// parse makes the command of a line that changes the table.
func (s *script) parse(l *scriptLine) (core.Command, error) {
	switch l.cmd {
	case "register":
		return s.parseRegister(l)
	case "unregister":
		b, err := l.broker()
		return &core.UnregisterBroker{ClusterName: b.cluster, BrokerName: b.name, BrokerAddr: b.addr, BrokerID: b.id}, err
	case "version":
		b, err := l.broker()
		if err != nil {
			return nil, err
		}
		v, err := l.dataVersion()
		return &core.QueryDataVersion{
			Conn: s.conn(l.option("conn", b.addr)), ClusterName: b.cluster, BrokerAddr: b.addr,
			DataVersion: v, HasDataVersion: true,
		}, err
	case "close":
		c, open := s.conns[l.word(0)]
		if !open {
			return nil, fmt.Errorf("no connection %s", l.word(0))
		}
		delete(s.conns, l.word(0))
		return &core.EndConnection{Conn: c}, nil
	case "dead":
		return s.parseDead(l)
	case "wipe":
		return &core.WipeWritePerm{BrokerName: l.word(0)}, nil
	case "add":
		return &core.AddWritePerm{BrokerName: l.word(0)}, nil
	case "delete":
		return &core.DeleteTopic{Topic: l.word(0), ClusterName: l.word(1)}, nil
	case "puttopic":
		c := &core.RegisterTopic{Topic: l.word(0)}
		for _, w := range l.rest() {
			q, err := parseShare(w)
			if err != nil {
				return nil, err
			}
			c.Queues = append(c.Queues, codec.QueueData{BrokerName: q.Name, ReadQueueNums: q.ReadQueueNums, WriteQueueNums: q.WriteQueueNums, Perm: q.Perm})
		}
		return c, nil
	case "putkv":
		return &core.PutKV{Namespace: l.word(0), Key: l.word(1), Value: text(l.word(2))}, nil
	case "deletekv":
		return &core.DeleteKV{Namespace: l.word(0), Key: l.word(1)}, nil
	case "settings":
		return s.parseSettings(l)
	}
	return nil, fmt.Errorf("no such command")
}

// parseDead reads evidence of a death: silent= is for how long, by= whose word it is.
func (s *script) parseDead(l *scriptLine) (core.Command, error) {
	b, err := l.broker()
	if err != nil {
		return nil, err
	}
	v, err := l.dataVersion()
	if err != nil {
		return nil, err
	}
	silent, err := time.ParseDuration(l.option("silent", "0s"))
	return &core.DeclareDead{
		ClusterName: b.cluster, BrokerName: b.name, BrokerAddr: b.addr,
		Since: s.now - int64(silent), Version: v, By: l.option("by", ""),
	}, err
}

func (s *script) parseRegister(l *scriptLine) (core.Command, error) {
	b, err := l.broker()
	if err != nil {
		return nil, err
	}
	c := &core.RegisterBroker{
		Conn: s.conn(l.option("conn", b.addr)), ClusterName: b.cluster, BrokerName: b.name, BrokerAddr: b.addr, BrokerID: b.id,
		HAServerAddr: l.nullOption("ha"), ZoneName: l.nullOption("zone"), ActingMaster: l.acting(),
	}
	if _, c.HasTimeout = l.values("timeout"); c.HasTimeout {
		if c.TimeoutMillis, err = l.number("timeout", 0); err != nil {
			return nil, err
		}
	}
	if l.input != "" {
		c.Body, err = codec.ParseRegisterBody([]byte(l.input), &codec.RegisterBodyOptions{Version: codec.ServerVersion, NowMillis: wallMillis})
	} else {
		c.Body, err = l.registerBody()
	}
	return c, err
}

func (l *scriptLine) acting() core.ActingMaster {
	if slices.Contains(l.words(), "acting") {
		return core.ActingTrue
	}
	if l.option("acting", "") == "false" {
		return core.ActingFalse
	}
	return core.ActingAbsent
}

// registerBody makes the body from topics and options.
func (l *scriptLine) registerBody() (*codec.RegisterBody, error) {
	v, err := l.dataVersion()
	if err != nil {
		return nil, err
	}
	body := &codec.RegisterBody{DataVersion: v}
	body.FilterServers, body.HasFilterServers = l.values("filters")
	words := l.rest()
	filler := len(words) > 0
	for _, w := range words {
		switch w {
		case "acting":
		case "only":
			filler = false
		default:
			topic, err := parseShare(w)
			if err != nil {
				return nil, err
			}
			body.Topics = append(body.Topics, topic)
		}
	}
	if filler && len(body.Topics) > 0 {
		body.Topics = append(body.Topics, codec.TopicConfig{Key: "pad", Name: "pad", HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6})
	}
	mapped, _ := l.values("mapping")
	b, err := l.broker()
	for _, word := range mapped {
		topic, epoch, _ := strings.Cut(word, "@")
		n, err := strconv.ParseInt(cmp.Or(epoch, "0"), 10, 64)
		if err != nil {
			return nil, err
		}
		body.Mappings = append(body.Mappings, codec.TopicQueueMapping{
			Key: topic, Topic: text(topic), Scope: text("__global__"), BrokerName: text(b.name),
			TotalQueues: 1, Epoch: n, CurrIDMap: []codec.IDPair{{}},
		})
	}
	return body, err
}

// parseShare reads NAME[/qQUEUES][/pPERM].
func parseShare(word string) (codec.TopicConfig, error) {
	parts := strings.Split(word, "/")
	c := codec.TopicConfig{Key: parts[0], Name: parts[0], HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6}
	for _, p := range parts[1:] {
		n, err := strconv.ParseInt(strings.TrimLeft(p, "qp"), 10, 32)
		switch {
		case err != nil:
			return c, err
		case p[0] == 'q':
			c.ReadQueueNums, c.WriteQueueNums = int32(n), int32(n)
		case p[0] == 'p':
			c.Perm = int32(n)
		default:
			return c, fmt.Errorf("%q is not name/qN/pN", word)
		}
	}
	return c, nil
}

func (s *script) parseSettings(l *scriptLine) (core.Command, error) {
	set := s.Settings()
	switches := map[string]*bool{
		"orderMessageEnable":                &set.OrderMessageEnable,
		"returnOrderTopicConfigToBroker":    &set.ReturnOrderTopicConfigToBroker,
		"supportActingMaster":               &set.SupportActingMaster,
		"notifyMinBrokerIdChanged":          &set.NotifyMinBrokerIDChanged,
		"deleteTopicWithBrokerRegistration": &set.DeleteTopicWithBrokerRegistration,
	}
	numbers := map[string]*int64{
		"brokerCloseGraceMillis": &set.BrokerCloseGraceMillis,
		"expiryGuardPercent":     &set.ExpiryGuardPercent,
		"expiryGuardMaxMillis":   &set.ExpiryGuardMaxMillis,
	}
	for _, a := range l.args {
		if n, ok := numbers[a.Key]; ok {
			var err error
			if *n, err = l.number(a.Key, 0); err != nil {
				return nil, err
			}
			continue
		}
		on, ok := switches[a.Key]
		if !ok {
			return nil, fmt.Errorf("no setting %s", a.Key)
		}
		*on = l.option(a.Key, "") == "true"
	}
	return &core.SetSettings{Settings: set}, nil
}
