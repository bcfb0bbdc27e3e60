package spread

import "testing"

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{3}, "3.00"}, {[]float64{5, 1, 3}, "3.00 (1.00–5.00)"}, {[]float64{4, 1, 2, 9}, "3.00 (1.00–9.00)"},
		{[]float64{0.12345, 0.12345}, "0.123"}, {[]float64{1234567.4}, "1,234,567"}, {[]float64{999.6}, "1,000"},
		{[]float64{-1234}, "-1,234"}, {[]float64{-123456}, "-123,456"}, {[]float64{0}, "0"}, {[]float64{12.345}, "12.3"}, {[]float64{0.9996}, "1.00"},
	} {
		if s, ok := Of(c.values); !ok || s.String() != c.want {
			t.Errorf("%v: %s, want %s", c.values, s, c.want)
		}
	}
	if _, ok := Of(nil); ok {
		t.Error("nothing has a median")
	}
}
