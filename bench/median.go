package bench

import (
	"fmt"
	"math"
	"slices"
)

// spread is the median of some values and how far they lie apart.
type spread struct{ median, low, high float64 }

// spreadOf values; ok is false without any.
func spreadOf(values []float64) (s spread, ok bool) {
	if len(values) == 0 {
		return spread{}, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return spread{median, sorted[0], sorted[len(sorted)-1]}, true
}

// String is the median, and lowest and highest value if they differ from it.
func (s spread) String() string {
	median, low, high := shown(s.median), shown(s.low), shown(s.high)
	if low == median && high == median {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, low, high)
}

// shown has three significant digits.
func shown(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return thousands(int64(math.Round(v)))
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func thousands(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
