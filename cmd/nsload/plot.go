package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/bench"
	"github.com/waymark-mq/waymark/bench/plot"
)

// drawPlot draws the results of earlier runs.
func drawPlot(_ context.Context, args []string, stdout, _ io.Writer) error {
	sizes, figures := bench.Figures()
	flags := flag.NewFlagSet("nsload plot", flag.ContinueOnError)
	out := flags.String("o", "", "SVG `file` to write; none: standard output")
	x := flags.String("x", "time", "`axis`: time, or a size of the workload: "+strings.Join(sizes, ", "))
	y := flags.String("y", "p99", "`figure`: over time p50, p99 or max; else "+strings.Join(figures, ", "))
	variants := flags.String("variant", "", "only variants that match the `regexp`")
	if err := parse(flags, args, stdout); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*variants)
	if err != nil {
		return usageError{err}
	}
	results, err := readResults(flags.Args())
	if err != nil {
		return err
	}
	results = slices.DeleteFunc(results, func(r *bench.Result) bool { return !wanted.MatchString(r.Variant) })
	if len(results) == 0 {
		return errors.New("no results")
	}
	var chart *plot.Chart
	if *x == "time" {
		chart, err = bench.TimeChart(results, *y)
	} else {
		chart, err = bench.SizeChart(results, *x, *y)
	}
	if err != nil {
		return usageError{err}
	}
	svg, err := chart.SVG()
	if err != nil {
		return err
	}
	if *out != "" {
		return os.WriteFile(*out, svg, 0o644)
	}
	_, err = stdout.Write(svg)
	return err
}

func readResults(files []string) ([]*bench.Result, error) {
	if len(files) == 0 {
		return nil, usageError{errors.New("no file with results; nsload -json FILE writes one")}
	}
	var all []*bench.Result
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		list, err := bench.ReadResults(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, list...)
	}
	return all, nil
}
