package codec

import "testing"

func BenchmarkParseRegisterBody(b *testing.B) {
	plain, deflated, names := bigTable(5000)
	for _, bc := range []struct {
		name  string
		body  []byte
		names map[string]string
	}{
		{"5000topics/plain/known", plain, names},
		{"5000topics/plain/unknown", plain, nil},
		{"5000topics/deflated/known", deflated, names},
		{"5000topics/deflated/unknown", deflated, nil},
		{"1topic/plain", []byte(plain49), map[string]string{"TopicA": "TopicA"}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			o := optionsWith(bc.names)
			b.SetBytes(int64(len(bc.body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseRegisterBody(bc.body, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParseDataVersion(b *testing.B) {
	in := []byte(`{"counter":3,"stateVersion":2,"timestamp":1700000000000}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseDataVersion(in, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBodyCRC(b *testing.B) {
	plain, _, _ := bigTable(5000)
	b.SetBytes(int64(len(plain)))
	for b.Loop() {
		BodyCRC(plain)
	}
}
