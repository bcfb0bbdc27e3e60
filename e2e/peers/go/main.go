// Command client lets RocketMQ's Go client do what its arguments say: a task, the nameservers' addresses joined by
// semicolons or the URL of an address server, a topic and a number.
//
//	roundtrip: that many messages are sent and received by a push consumer
//	fleet:     that many clients send and receive until standard input says stop; see fleet.go
//	routes:    the topic's route is read that often; see routes.go
//
// The last line is "OK " and counts; anything else ends with "FAILED …" and exit status 1.
//
// The two mod files in this folder build it with two versions of the client: go.mod, and newest.mod by -modfile.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

var tasks = map[string]func(nameservers primitive.NsResolver, topic string, number int) (result string, err error){
	"roundtrip": roundTrip,
	"fleet":     fleet,
	"routes":    routes,
}

func main() {
	if len(os.Args) != 5 || tasks[os.Args[1]] == nil {
		fail("usage: client roundtrip|fleet|routes NAMESERVERS TOPIC NUMBER")
	}
	number, err := strconv.Atoi(os.Args[4])
	if err != nil {
		fail("number: %v", err)
	}
	rlog.SetLogLevel("warn")
	result, err := tasks[os.Args[1]](resolver(os.Args[2]), os.Args[3], number)
	if err != nil {
		fail("%v", err)
	}
	fmt.Println("OK " + result)
}

func fail(format string, args ...any) {
	fmt.Printf("FAILED "+format+"\n", args...)
	os.Exit(1)
}
