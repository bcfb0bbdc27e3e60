package routesnapshot

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

// large is the snapshot of 300 brokers that have the same 10,000 topics.
func large(b *testing.B) *core.Snapshot {
	const brokers, topics = 300, 10_000
	body := &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: 1}}
	for i := range topics {
		name := fmt.Sprintf("a-topic-with-a-name-of-some-length-%05d", i)
		body.Topics = append(body.Topics, codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 8, WriteQueueNums: 8, Perm: 6})
	}
	table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
	for i := range brokers {
		table.Step(1, []core.Command{&core.RegisterBroker{
			Conn: 1, ClusterName: "cluster", BrokerName: fmt.Sprint("broker-", i), BrokerAddr: fmt.Sprintf("10.0.0.%d:10911", i), Body: body,
		}}, &out)
	}
	b.ResetTimer()
	return table.Load()
}

// BenchmarkWriteFile is what the keeper does: the file is written, synced and renamed.
func BenchmarkWriteFile(b *testing.B) {
	s := large(b)
	b.ReportAllocs()
	f := storage.WholeFile{Path: filepath.Join(b.TempDir(), "routes")}
	var size int64
	for b.Loop() {
		err := f.Write(func(w io.Writer) (err error) {
			size, err = Write(w, s.Export(2), 0)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size), "bytes/file")
}

// BenchmarkExport is the same without a disk.
func BenchmarkExport(b *testing.B) {
	s := large(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Write(io.Discard, s.Export(2), 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRestore is what a start does with the file's bytes.
func BenchmarkRestore(b *testing.B) {
	var data bytes.Buffer
	if _, err := Write(&data, large(b).Export(2), 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		state, _, err := Parse(data.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
		table.Step(2, []core.Command{&core.Restore{State: state, UntilNanos: 3, MaxAgeNanos: 1 << 40}}, &out)
		if s := table.Load(); s.Brokers() != 300 || s.Topics() != 10_000 {
			b.Fatalf("%d brokers, %d topics", s.Brokers(), s.Topics())
		}
	}
}
