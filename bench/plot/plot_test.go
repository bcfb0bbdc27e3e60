package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

func TestSVGIsWellFormed(t *testing.T) {
	c := Chart{
		Title: "a < b & c", X: Axis{Title: "seconds"}, Y: Axis{Title: "ms", Log: true}, Marks: true,
		Lines: []Line{{"one", []Point{{0, 0.3}, {1, 30}, {2, 4}}}, {"two", []Point{{0.5, 7}}}},
	}
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	count := map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
	if count["polyline"] != 2 || count["circle"] != 4 || count["svg"] != 1 {
		t.Error(count)
	}
	for _, want := range []string{"a &lt; b &amp; c", ">one<", ">0.1<", ">100<", ">ms<"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestScale(t *testing.T) {
	linear := scale{from: 0, to: 100}
	for _, v := range []float64{40, 10} {
		if err := linear.include(v); err != nil {
			t.Fatal(err)
		}
	}
	linear.widen()
	if linear.low != 0 || linear.high != 44 || linear.at(22) != 50 || fmt.Sprint(linear.ticks()) != "[0 5 10 15 20 25 30 35 40]" {
		t.Error(linear, linear.at(22), linear.ticks())
	}
	log := scale{log: true, from: 400, to: 0}
	for _, v := range []float64{3, 2000} {
		if err := log.include(v); err != nil {
			t.Fatal(err)
		}
	}
	log.widen()
	if log.at(1) != 400 || log.at(10000) != 0 || math.Abs(log.at(100)-200) > 1e-9 || fmt.Sprint(log.ticks()) != "[1 10 100 1000 10000]" {
		t.Error(log, log.ticks())
	}
}

func TestNothingToDraw(t *testing.T) {
	for _, c := range []Chart{
		{}, {Lines: []Line{{"a", nil}}},
		{Y: Axis{Log: true}, Lines: []Line{{"a", []Point{{1, 0}}}}},
		{Lines: []Line{{"a", []Point{{math.NaN(), 0}}}}},
	} {
		if _, err := c.SVG(); err == nil {
			t.Errorf("%+v is drawn", c)
		}
	}
	one := Chart{Lines: []Line{{"a", []Point{{1, 1}}}}}
	if svg, err := one.SVG(); err != nil || strings.Contains(string(svg), "NaN") {
		t.Errorf("one point: %v", err)
	}
}
