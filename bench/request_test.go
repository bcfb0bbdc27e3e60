package bench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// startNameserver runs a nameserver on a free loopback port until the test ends.
func startNameserver(b testing.TB) *namesrv.Server {
	b.Helper()
	c := settings.Default(settings.Env{HomeDir: b.TempDir()})
	c.BindAddress, c.ListenPort = "127.0.0.1", 0
	s, err := namesrv.New(namesrv.Options{Settings: c, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Stop(b.Context()); err != nil {
			b.Log(err)
		}
	})
	return s
}

// client is one connection that waits for each answer.
type client struct {
	net.Conn
	b *testing.B
}

func dial(b *testing.B, s *namesrv.Server) client {
	b.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return client{c, b}
}

func (c client) call(frame []byte) {
	if _, err := c.Write(frame); err != nil {
		c.b.Fatal(err)
	}
	var length [4]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		c.b.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(length[:]))); err != nil {
		c.b.Fatal(err)
	}
}

func request(t codec.SerializeType, code int32, body []byte, fields ...codec.ExtField) []byte {
	return codec.AppendFrame(nil, t, &codec.Header{Code: code, Opaque: 4711, Version: codec.ServerVersion, ExtFields: fields}, body)
}

// registration is broker i's, as a 5.x broker sends it: stamp is new each time, version with a change.
func registration(i, topics int, version, stamp int64) []byte {
	var body strings.Builder
	fmt.Fprintf(&body, `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":%d,"stateVersion":0,"timestamp":1700000000000},"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":%d},"topicConfigTable":{`, version, stamp)
	for n := range topics {
		if n > 0 {
			body.WriteByte(',')
		}
		queues := 8
		if int64(n) == version%int64(topics) {
			queues = 4
		}
		fmt.Fprintf(&body, `"T%d":{"attributes":{},"order":false,"perm":6,"readQueueNums":%d,"topicFilterType":"SINGLE_TAG","topicName":"T%d","topicSysFlag":0,"writeQueueNums":8}`, n, queues, n)
	}
	body.WriteString(`},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}}`)
	b := []byte(body.String())
	return request(codec.SerializeJSON, codec.RequestRegisterBroker, b,
		codec.ExtField{Name: "brokerName", Value: fmt.Sprintf("broker-%d", i)},
		codec.ExtField{Name: "brokerAddr", Value: brokerAddr(i)},
		codec.ExtField{Name: "clusterName", Value: "DefaultCluster"},
		codec.ExtField{Name: "haServerAddr", Value: fmt.Sprintf("10.0.0.%d:10912", i)},
		codec.ExtField{Name: "brokerId", Value: "0"},
		codec.ExtField{Name: "enableActingMaster", Value: "false"},
		codec.ExtField{Name: "compressed", Value: "false"},
		codec.ExtField{Name: "bodyCrc32", Value: strconv.Itoa(int(crc32.ChecksumIEEE(b) & 0x7fffffff))})
}

func brokerAddr(i int) string { return fmt.Sprintf("10.0.0.%d:10911", i) }

// BenchmarkRequest runs whole reads of depth requests through one loop's handler, without a socket:
// cut, parse, look up, encode.
func BenchmarkRequest(b *testing.B) {
	const brokers, topics = 4, 100
	s := startNameserver(b)
	for i := range brokers {
		dial(b, s).call(registration(i, topics, 1, 1))
	}
	for _, r := range []struct {
		name string
		make func(t codec.SerializeType, n int) []byte
	}{
		{"route", func(t codec.SerializeType, n int) []byte {
			return request(t, codec.RequestGetRouteInfoByTopic, nil, codec.ExtField{Name: "topic", Value: fmt.Sprintf("T%d", n%topics)})
		}},
		{"routeMiss", func(t codec.SerializeType, n int) []byte {
			return request(t, codec.RequestGetRouteInfoByTopic, nil, codec.ExtField{Name: "topic", Value: fmt.Sprintf("missing-%d", n)})
		}},
		{"heartbeat", func(t codec.SerializeType, n int) []byte {
			return request(t, codec.RequestBrokerHeartbeat, nil, codec.ExtField{Name: "brokerName", Value: fmt.Sprintf("broker-%d", n%brokers)},
				codec.ExtField{Name: "brokerAddr", Value: brokerAddr(n % brokers)}, codec.ExtField{Name: "clusterName", Value: "DefaultCluster"})
		}},
	} {
		for _, header := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
			for _, depth := range []int{1, 32} {
				b.Run(fmt.Sprintf("%s/header=%d/depth=%d", r.name, header, depth), func(b *testing.B) {
					var batch []byte
					for n := range depth {
						batch = append(batch, r.make(header, n)...)
					}
					p := netpoll.NewPipe(s.NewLoop(), netpoll.Options{})
					b.ReportAllocs()
					for b.Loop() {
						if answers, err := p.Feed(batch); err != nil || len(answers) == 0 {
							b.Fatal(len(answers), err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/request")
				})
			}
		}
	}
}

// fixed answers every frame with the same bytes, looking at nothing: the floor.
type fixed struct{ answer []byte }

func (fixed) Open(*netpoll.Conn, int64)         {}
func (fixed) Close(*netpoll.Conn, error, int64) {}
func (f fixed) Frame(_ *netpoll.Conn, dst, _ []byte, _ int64) ([]byte, error) {
	return append(dst, f.answer...), nil
}

// BenchmarkFloor cuts the frames of BenchmarkRequest's route queries and copies answers of the same size.
func BenchmarkFloor(b *testing.B) {
	const answerBytes = 936
	frame := request(codec.SerializeJSON, codec.RequestGetRouteInfoByTopic, nil, codec.ExtField{Name: "topic", Value: "T17"})
	for _, depth := range []int{1, 32} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			batch := bytes.Repeat(frame, depth)
			p := netpoll.NewPipe(fixed{make([]byte, answerBytes)}, netpoll.Options{})
			for b.Loop() {
				if answers, err := p.Feed(batch); err != nil || len(answers) == 0 {
					b.Fatal(len(answers), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/request")
		})
	}
}

// BenchmarkRegistration is one broker's registration over TCP from write to answer:
// the same table again (with a new stamp), and one topic changed.
func BenchmarkRegistration(b *testing.B) {
	const topics = 5_000
	for _, change := range []int64{0, 1} {
		b.Run(fmt.Sprintf("topics=%d/changed=%d", topics, change), func(b *testing.B) {
			s := startNameserver(b)
			c := dial(b, s)
			c.call(registration(1, topics, 1, 1_000_000_000_000))
			b.ReportAllocs()
			for n := int64(1); b.Loop(); n++ {
				b.StopTimer()
				frame := registration(1, topics, 1+n*change, 1_000_000_000_000+n)
				b.StartTimer()
				c.call(frame)
			}
		})
	}
}
