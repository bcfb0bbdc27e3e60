package harness

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// Request and answer codes of the protocol that the harness itself uses.
const (
	askKVConfig    = 101
	askRoute       = 105
	askClusterInfo = 106
	askTopics      = 206

	answerSuccess   = 0
	answerNoTopic   = 17
	answerKVMissing = 22
)

// Versions of the protocol: of 5.5.0, and of 4.4.0, whose clients get JSON with bare integer keys.
const (
	currentProtocol = 513
	legacyProtocol  = 317
)

const (
	askLimit       = 30 * time.Second
	maxAnswerBytes = 16 << 20
)

// Asker is one connection over which a nameserver is asked, one question at a time. It frames by itself: see the
// package's comment.
type Asker struct {
	conn    net.Conn
	opaque  int32
	version int // of the protocol, in its headers
}

// Answer is what came back. Body is the bytes as sent.
type Answer struct {
	Code      int               `json:"code"`
	Opaque    int32             `json:"opaque"`
	Remark    string            `json:"remark"`
	ExtFields map[string]string `json:"extFields"`
	Body      []byte            `json:"-"`
}

type askHeader struct {
	Code      int               `json:"code"`
	ExtFields map[string]string `json:"extFields"`
	Flag      int               `json:"flag"`
	Language  string            `json:"language"`
	Opaque    int32             `json:"opaque"`
	Serialize string            `json:"serializeTypeCurrentRPC"`
	Version   int               `json:"version"`
}

// Dial connects to a nameserver.
func Dial(addr string) (*Asker, error) {
	conn, err := net.DialTimeout("tcp", addr, askLimit)
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	return &Asker{conn: conn, version: currentProtocol}, nil
}

// Close ends the connection.
func (a *Asker) Close() { _ = a.conn.Close() }

// Ask sends one request without a body and waits for its answer, half a minute at most.
func (a *Asker) Ask(code int, fields map[string]string) (*Answer, error) {
	return a.AskWithBody(code, fields, nil)
}

// AskWithBody is Ask for a request with a body.
func (a *Asker) AskWithBody(code int, fields map[string]string, body []byte) (*Answer, error) {
	a.opaque++
	header, err := json.Marshal(askHeader{
		Code: code, ExtFields: fields, Language: "JAVA", Opaque: a.opaque, Serialize: "JSON", Version: a.version,
	})
	if err != nil {
		return nil, fmt.Errorf("harness: request %d: %w", code, err)
	}
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(header))) // type byte 0: a JSON header
	frame = append(append(frame, header...), body...)
	if err := a.conn.SetDeadline(time.Now().Add(askLimit)); err != nil {
		return nil, fmt.Errorf("harness: request %d: %w", code, err)
	}
	if _, err := a.conn.Write(frame); err != nil {
		return nil, fmt.Errorf("harness: request %d: %w", code, err)
	}
	answer, err := readAnswer(a.conn)
	if err != nil {
		return nil, fmt.Errorf("harness: answer to %d: %w", code, err)
	}
	if answer.Opaque != a.opaque {
		return nil, fmt.Errorf("harness: answer to %d has opaque %d, asked was %d", code, answer.Opaque, a.opaque)
	}
	return answer, nil
}

// RouteBytes returns the body that a client of 5.x gets for a topic's route, as sent; nil when there is no route.
func (a *Asker) RouteBytes(topic string) ([]byte, error) {
	return a.routeBytes(map[string]string{"topic": topic, "acceptStandardJsonOnly": "true"})
}

// LegacyRouteBytes returns what an old client gets: the same with bare integer keys.
func (a *Asker) LegacyRouteBytes(topic string) ([]byte, error) {
	defer func(version int) { a.version = version }(a.version)
	a.version = legacyProtocol
	return a.routeBytes(map[string]string{"topic": topic})
}

func (a *Asker) routeBytes(fields map[string]string) ([]byte, error) {
	answer, err := a.Ask(askRoute, fields)
	if err != nil {
		return nil, err
	}
	switch answer.Code {
	case answerSuccess:
		return answer.Body, nil
	case answerNoTopic:
		return nil, nil
	}
	return nil, fmt.Errorf("harness: route of %s: code %d, remark %q", fields["topic"], answer.Code, answer.Remark)
}

// HasRoute reports whether the nameserver knows a route of the topic.
func (a *Asker) HasRoute(topic string) (bool, error) {
	body, err := a.RouteBytes(topic)
	return body != nil, err
}

// Route returns the route of a topic; nil when there is none.
func (a *Asker) Route(topic string) (*Route, error) {
	body, err := a.RouteBytes(topic)
	if err != nil || body == nil {
		return nil, err
	}
	return parseRoute(body)
}

// Topics returns the names of all topics that the nameserver lists, sorted.
func (a *Asker) Topics() ([]string, error) {
	answer, err := a.Ask(askTopics, nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		TopicList []string `json:"topicList"`
	}
	if err := json.Unmarshal(answer.Body, &list); err != nil {
		return nil, fmt.Errorf("harness: topic list: code %d, remark %q: %w", answer.Code, answer.Remark, err)
	}
	slices.Sort(list.TopicList)
	return list.TopicList, nil
}

// HasBroker reports whether the nameserver lists a broker of that name with an address.
func (a *Asker) HasBroker(name, addr string) (bool, error) {
	answer, err := a.Ask(askClusterInfo, nil)
	if err != nil {
		return false, err
	}
	if answer.Code != answerSuccess {
		return false, fmt.Errorf("harness: cluster info: code %d, remark %q", answer.Code, answer.Remark)
	}
	// The body's integer keys are bare, so it is no JSON that Go could parse.
	body := string(answer.Body)
	return strings.Contains(body, fmt.Sprintf("%q", name)) && strings.Contains(body, fmt.Sprintf("%q", addr)), nil
}

// KVConfig returns a value of the nameserver's KV table; ok is false when there is none.
func (a *Asker) KVConfig(namespace, key string) (value string, ok bool, err error) {
	answer, err := a.Ask(askKVConfig, map[string]string{"namespace": namespace, "key": key})
	if err != nil {
		return "", false, err
	}
	switch answer.Code {
	case answerSuccess:
		return answer.ExtFields["value"], true, nil
	case answerKVMissing:
		return "", false, nil
	}
	return "", false, fmt.Errorf("harness: KV %s/%s: code %d, remark %q", namespace, key, answer.Code, answer.Remark)
}
