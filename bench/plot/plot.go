// Package plot draws lines into an SVG file: linear and logarithmic axes, a legend, nothing else. The libraries for it draw by
// rasterising fonts or bring a graphics stack along; two kinds of charts need neither.
package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Chart is what is drawn. Points of an axis with a logarithmic scale must be above 0.
type Chart struct {
	Title string
	X, Y  Axis
	Lines []Line
	Marks bool // a dot on each point
}

// Axis names what it counts.
type Axis struct {
	Title string
	Log   bool
}

// Line joins its points in their order.
type Line struct {
	Name   string
	Points []Point
}

// Point is in the units of the axes.
type Point struct{ X, Y float64 }

// Places in the drawing, in pixels.
const (
	width, height            = 900, 460
	left, right, top, bottom = 80, 20, 40, 60
)

// The colours and dashes of lines, told apart without colour too.
var (
	colours = []string{"#0b6e4f", "#c1440e", "#1f4e9c", "#7a3e9d", "#8a6d00", "#444444"}
	dashes  = []string{"", "6 3", "2 3", "10 3 2 3", "1 4", "14 4"}
)

// SVG draws the chart.
func (c *Chart) SVG() ([]byte, error) {
	xs, ys := scale{log: c.X.Log, from: left, to: width - right}, scale{log: c.Y.Log, from: height - bottom, to: top}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			if err := errors.Join(xs.include(p.X), ys.include(p.Y)); err != nil {
				return nil, fmt.Errorf("plot: %s: %w", l.Name, err)
			}
		}
	}
	if xs.empty() {
		return nil, errors.New("plot: nothing to draw")
	}
	ys.widen()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text(&b, width/2, 22, "middle", "", c.Title)
	c.axes(&b, &xs, &ys)
	for i, l := range c.Lines {
		c.line(&b, i, l, &xs, &ys)
	}
	b.WriteString("</svg>\n")
	return b.Bytes(), nil
}

func (c *Chart) axes(b *bytes.Buffer, xs, ys *scale) {
	const ink = `stroke="#dddddd"`
	for _, v := range xs.ticks() {
		x := xs.at(v)
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" %s/>`+"\n", x, top, x, height-bottom, ink)
		text(b, x, height-bottom+18, "middle", "", number(v))
	}
	for _, v := range ys.ticks() {
		y := ys.at(v)
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" %s/>`+"\n", left, y, width-right, y, ink)
		text(b, left-8, y+4, "end", "", number(v))
	}
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#888888"/>`+"\n", left, top, width-right-left, height-bottom-top)
	text(b, (left+width-right)/2, height-14, "middle", "", c.X.Title)
	text(b, 20, (top+height-bottom)/2, "middle", fmt.Sprintf("rotate(-90 20 %d)", (top+height-bottom)/2), c.Y.Title)
}

func (c *Chart) line(b *bytes.Buffer, i int, l Line, xs, ys *scale) {
	colour, dash := colours[i%len(colours)], dashes[i%len(dashes)]
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.8" stroke-dasharray="%s" points="`, colour, dash)
	for n, p := range l.Points {
		if n > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(b, "%.1f,%.1f", xs.at(p.X), ys.at(p.Y))
	}
	b.WriteString(`"/>` + "\n")
	if c.Marks {
		for _, p := range l.Points {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", xs.at(p.X), ys.at(p.Y), colour)
		}
	}
	y := top + 20 + 18*i
	fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", width-right-190, y-4, width-right-160, y-4, colour, dash)
	text(b, width-right-154, float64(y), "start", "", l.Name)
}

func text(b *bytes.Buffer, x, y float64, anchor, transform, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s"`, x, y, anchor)
	if transform != "" {
		fmt.Fprintf(b, ` transform="%s"`, transform)
	}
	b.WriteByte('>')
	_ = xml.EscapeText(b, []byte(s)) // a bytes.Buffer takes everything
	b.WriteString("</text>\n")
}

// number writes a tick without needless digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// scale maps values to pixels.
type scale struct {
	log         bool
	from, to    float64 // pixels of the lowest and of the highest value
	low, high   float64
	initialised bool
}

func (s *scale) empty() bool { return !s.initialised }

func (s *scale) include(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || s.log && v <= 0 {
		return fmt.Errorf("%v can't be drawn", v)
	}
	if !s.initialised {
		s.low, s.high, s.initialised = v, v, true
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
	return nil
}

// widen makes room around the values: linear from 0, logarithmic to whole powers of ten.
func (s *scale) widen() {
	if s.log {
		s.low = math.Pow(10, math.Floor(math.Log10(s.low)))
		s.high = math.Pow(10, math.Ceil(math.Log10(s.high)))
		if s.low == s.high {
			s.high *= 10
		}
		return
	}
	s.low = min(s.low, 0)
	s.high += (s.high - s.low) / 10
}

func (s *scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log10(v), math.Log10(low), math.Log10(high)
	}
	if high == low {
		return (s.from + s.to) / 2
	}
	return s.from + (v-low)/(high-low)*(s.to-s.from)
}

// ticks are round values within the scale.
func (s *scale) ticks() []float64 {
	var list []float64
	if s.log {
		for power := math.Floor(math.Log10(s.low)); power <= math.Ceil(math.Log10(s.high)); power++ {
			list = append(list, s.within(math.Pow(10, power))...)
		}
		return list
	}
	step := math.Pow(10, math.Floor(math.Log10(max(s.high-s.low, 1e-12))))
	for _, finer := range []float64{2, 5, 10} {
		if (s.high-s.low)/step >= 5 {
			break
		}
		step = math.Pow(10, math.Floor(math.Log10(max(s.high-s.low, 1e-12)))) / finer
	}
	for i := math.Ceil(s.low / step); i*step <= s.high; i++ {
		list = append(list, i*step)
	}
	return list
}

func (s *scale) within(v float64) []float64 {
	if v < s.low*0.999 || v > s.high*1.001 {
		return nil
	}
	return []float64{v}
}
