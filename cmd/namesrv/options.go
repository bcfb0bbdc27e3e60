package main

import (
	"flag"
	"fmt"
	"io"
)

const usage = `usage: namesrv [-c <file>] [-h] [-n <addresses>] [-p]
 -c,--configFile <file>         properties file with the settings; changed settings are saved to it
 -h,--help                      print this help
 -n,--namesrvAddr <addresses>   accepted for Apache's scripts, without effect
 -p,--printConfigItem           print all settings as they would take effect, and exit
`

type options struct {
	configFile       string
	printItems, help bool
}

// parseOptions reads a command line of Apache's: one dash or two, "-c file" or
// "--configFile=file". Words that belong to no option are skipped, as there.
func parseOptions(args []string) (options, error) {
	var o options
	var ignored string
	flags := flag.NewFlagSet("namesrv", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, name := range []string{"c", "configFile"} {
		flags.StringVar(&o.configFile, name, "", "")
	}
	for _, name := range []string{"n", "namesrvAddr"} {
		flags.StringVar(&ignored, name, "", "")
	}
	for _, name := range []string{"p", "printConfigItem"} {
		flags.BoolVar(&o.printItems, name, false, "")
	}
	for _, name := range []string{"h", "help"} {
		flags.BoolVar(&o.help, name, false, "")
	}
	for {
		if err := flags.Parse(args); err != nil {
			return options{}, fmt.Errorf("namesrv: %w", err)
		}
		if flags.NArg() == 0 {
			return o, nil
		}
		args = flags.Args()[1:]
	}
}
