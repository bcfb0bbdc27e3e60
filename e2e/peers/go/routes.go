package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// readingTime bounds routes.
const readingTime = 20 * time.Second

// routes reads a topic's route so many times, or for readingTime. A pull consumer that has no queues of its own asks the
// nameserver at each pull and then the broker that the route names. Nobody listens there, so that a pull tells what the route said: it
// had no queue, or an address at which a connection was refused. It says "ready" once the topic has a route, which it must have
// meanwhile; anything else than these two is counted as odd, and the first of it is shown.
func routes(nameservers primitive.NsResolver, topic string, reads int) (result string, err error) {
	rlog.SetLogLevel("fatal") // each of these pulls fails
	c, err := rocketmq.NewPullConsumer(consumer.WithGroupName(topic+"-readers"),
		consumer.WithNsResolver(nameservers))
	if err != nil {
		return "", err
	}
	if err := c.Subscribe(topic, consumer.MessageSelector{}); err != nil {
		return "", err
	}
	if err := c.Start(); err != nil {
		return "", err
	}
	fmt.Println("ready")
	var found, absent, odd int
	for end := time.Now().Add(readingTime); found+absent+odd < reads && time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(context.Background(), readingTime)
		_, err := c.Pull(ctx, 1)
		cancel()
		switch {
		case err != nil && strings.Contains(err.Error(), "connection refused"):
			found++
		case err != nil && strings.Contains(err.Error(), "no queue is founded"):
			absent++
		default:
			if odd++; odd == 1 {
				fmt.Println("odd:", err)
			}
		}
	}
	result = fmt.Sprintf("found=%d absent=%d odd=%d", found, absent, odd)
	if odd > 0 {
		return "", errors.New(result)
	}
	return result, nil
}
