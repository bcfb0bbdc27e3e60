package codec

import "testing"

func BenchmarkParse(b *testing.B) {
	for _, bm := range []struct{ name, frame string }{
		{"form=JSON/request=105", "java-5.5.0-105"},
		{"form=JSON/request=105-acl", "python-0.4.4-105-acl"},
		{"form=JSON/request=103", "broker-4.9.7-103-deflated"},
		{"form=JSON/request=904", "broker-5.5.0-904-oneway"},
		{"form=binary/request=105", "java-5.5.0-105-binary"},
		{"form=binary/request=104", "broker-5.5.0-104-binary"},
	} {
		frame := recordedFrame(b, bm.frame)
		b.Run(bm.name, func(b *testing.B) {
			var c Command
			b.ReportAllocs()
			for b.Loop() {
				f, err := ParseFrame(frame)
				if err == nil {
					err = c.Parse(f)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkField(b *testing.B) {
	f, err := ParseFrame(recordedFrame(b, "broker-4.9.7-103-deflated"))
	if err != nil {
		b.Fatal(err)
	}
	var c Command
	if err := c.Parse(f); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c.Field("brokerId")
		c.Int64("bodyCrc32")
		c.Bool("compressed")
	}
}

func BenchmarkAppendResponse(b *testing.B) {
	remark := "No topic route info in name server for the topic: TopicA\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
	notFound := Header{Code: ResponseTopicNotExist, Flag: FlagResponse, Opaque: 123456, Version: ServerVersion, Remark: remark, HasRemark: true}
	for _, form := range []struct {
		name string
		typ  SerializeType
	}{{"form=JSON", SerializeJSON}, {"form=binary", SerializeROCKETMQ}} {
		dst := make([]byte, 0, 1024)
		b.Run(form.name+"/success", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = FinishFrame(AppendSuccessStart(dst[:0], form.typ, 123456), 0)
			}
		})
		b.Run(form.name+"/not-found", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendFrame(dst[:0], form.typ, &notFound, nil)
			}
		})
	}
}
