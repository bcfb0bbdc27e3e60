// Package spread sums up figures that were measured a few times, as tables show them.
package spread

import (
	"fmt"
	"math"
	"slices"
)

// Spread is the median of some values and how far they lie apart.
type Spread struct{ Median, Low, High float64 }

// Of values; ok is false without any.
func Of(values []float64) (s Spread, ok bool) {
	if len(values) == 0 {
		return Spread{}, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{median, sorted[0], sorted[len(sorted)-1]}, true
}

// String is the median, and lowest and highest value if they differ from it.
func (s Spread) String() string {
	median, low, high := Number(s.Median), Number(s.Low), Number(s.High)
	if low == median && high == median {
		return median
	}
	return fmt.Sprintf("%s (%s–%s)", median, low, high)
}

// Number is a figure with three significant digits.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return Thousands(int64(math.Round(v)))
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Thousands is a whole number with commas.
func Thousands(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
