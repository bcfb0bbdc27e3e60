package netpoll

import "github.com/waymark-mq/waymark/codec"

// ForeignError is the reason for which a connection ended whose first bytes are another protocol's.
type ForeignError struct {
	Protocol string
	Meant    string // where such a peer usually wants to go; "" where nothing can be said
}

func (e *ForeignError) Error() string { return "netpoll: this is " + e.Protocol }

// recogniseBytes is how many bytes are enough to be certain.
const recogniseBytes = 8

// recognise looks at the head of a connection that has sent no frame yet and says why none can come of it, as soon as that is
// certain: from 4 bytes on by the length, from 8 on by type and length of the header. What may still become a frame, a
// PROXY header or a TLS hello gives nil.
func recognise(b []byte, maxFrameBytes int) error {
	if len(b) < lengthBytes || b[0] == tlsHandshake { // a frame that begins so, of 352 MiB and more, is taken for TLS by sniff too
		return nil
	}
	_, err := codec.FrameLength(b, maxFrameBytes)
	if err == nil {
		err = codec.CheckFrameStart(b)
	} else if begins(b, string(proxyV1Magic)) || begins(b, string(proxyV2Magic)) {
		return nil
	}
	if err != nil {
		return foreign(b, err)
	}
	return nil
}

// foreign names the protocol whose bytes are no frame for the given reason, which it returns if it knows none. b holds at
// least 4 bytes.
func foreign(b []byte, reason error) error {
	for i := range protocols {
		p := &protocols[i]
		for _, text := range p.texts {
			if p.at == 0 && begins(b, text) || len(b) >= p.at+len(text) && string(b[p.at:p.at+len(text)]) == text {
				return &p.ForeignError
			}
		}
	}
	for _, c := range b[:lengthBytes] {
		if (c < ' ' || c > '~') && c != '\r' && c != '\n' && c != '\t' {
			return reason
		}
	}
	return &textLines
}

// begins reports that b begins with text, as far as b goes.
func begins(b []byte, text string) bool {
	n := min(len(b), len(text))
	return string(b[:n]) == text[:n]
}

var textLines = ForeignError{Protocol: "lines of text"}

// protocols are those of the peers that come to a wrong port and of scanners, with what their first message has at one
// place. They are compared with bytes only that can't be a frame, so no text needs to tell itself from one.
var protocols = [...]struct {
	ForeignError
	at    int
	texts []string
}{
	{ForeignError{"HTTP/2", "a proxy's gRPC port"}, 0, []string{"PRI * HTTP/2.0\r\n"}},
	{ForeignError{"HTTP/1", "a dashboard or an HTTP port"}, 0,
		[]string{"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ", "PROPFIND "}},
	{ForeignError{"SSH", "port 22"}, 0, []string{"SSH-"}},
	{ForeignError{"RDP", "port 3389"}, 0, []string{"\x03\x00"}}, // TPKT version 3
	{ForeignError{"SMB", "port 445"}, 4, []string{"\xffSMB", "\xfeSMB"}},
	{ForeignError{"Redis", "port 6379"}, 0, []string{"*1\r\n$", "*2\r\n$", "*3\r\n$", "PING\r\n", "INFO\r\n"}},
	{ForeignError{"PostgreSQL", "port 5432"}, 4, []string{"\x04\xd2\x16\x2f", "\x04\xd2\x16\x30", "\x00\x03\x00\x00"}},
	{ForeignError{"Kafka", "port 9092"}, 4, []string{"\x00\x12\x00"}}, // ApiVersions
	{ForeignError{"MongoDB", "port 27017"}, 12, []string{"\xd4\x07\x00\x00", "\xdd\x07\x00\x00"}},
	{ForeignError{"ZooKeeper", "port 2181"}, 0, []string{"ruok\n", "stat\n", "srvr\n", "mntr\n", "envi\n", "conf\n"}},
	{ForeignError{"ZooKeeper", "port 2181"}, 2,
		[]string{"\x00\x2c\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x2d\x00\x00\x00\x00\x00\x00\x00\x00"}},
	{ForeignError{"AMQP", "port 5672"}, 0, []string{"AMQP"}},
	{ForeignError{"MQTT", "port 1883"}, 2, []string{"\x00\x04MQTT", "\x00\x06MQIsdp"}},
	{ForeignError{"NSQ", "port 4150"}, 0, []string{"  V1", "  V2"}},
	{ForeignError{"Dubbo", "port 20880"}, 0, []string{"\xda\xbb"}},
	{ForeignError{"Java RMI", "port 1099"}, 0, []string{"JRMI"}},
	{ForeignError{"LDAP", "port 389"}, 2, []string{"\x02\x01\x01\x60", "\x02\x01\x07\x63"}},
	{ForeignError{"SOCKS", "a SOCKS proxy"}, 0, []string{"\x04\x01", "\x05\x01\x00", "\x05\x02\x00"}},
	{ForeignError{"Oracle TNS", "port 1521"}, 2, []string{"\x00\x00\x01\x00\x00\x00"}},
	{ForeignError{"SQL Server TDS", "port 1433"}, 0, []string{"\x12\x01\x00"}},
	{ForeignError{"Telnet", "port 23"}, 0, []string{"\xff\xfb", "\xff\xfd"}},
	{ForeignError{"VNC", "port 5900"}, 0, []string{"RFB "}},
	{ForeignError{"SMTP", "port 25"}, 0, []string{"EHLO ", "HELO "}},
}
