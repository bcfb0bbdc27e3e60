// Command roundtrip produces messages to a topic with RocketMQ's Go client and receives them with a push consumer.
// Each of the two mod files in this folder builds it with one version of the client.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// limit is the time for all of it. settle is how long the consumer listens on after the last expected message: only
// then can a duplicate be seen.
const (
	limit  = 75 * time.Second
	settle = time.Second
)

func main() {
	if len(os.Args) != 4 {
		fail("usage: roundtrip NAMESERVER TOPIC COUNT")
	}
	count, err := strconv.Atoi(os.Args[3])
	if err != nil {
		fail("count: %v", err)
	}
	rlog.SetLogLevel("warn")
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	nameserver, topic := primitive.NewPassthroughResolver([]string{os.Args[1]}), os.Args[2]
	if err := produce(ctx, nameserver, topic, count); err != nil {
		fail("produce: %v", err)
	}
	received, duplicates, err := consume(ctx, nameserver, topic, count)
	if err != nil {
		fail("consume: %v", err)
	}
	result := fmt.Sprintf("sent=%d received=%d duplicates=%d", count, received, duplicates)
	if received != count || duplicates != 0 {
		fail("%s", result)
	}
	fmt.Println("OK " + result)
}

func fail(format string, args ...any) {
	fmt.Printf("FAILED "+format+"\n", args...)
	os.Exit(1)
}

func body(i int) string { return fmt.Sprintf("message %d", i) }

// produce sends the messages one after the other. The broker creates the topic for the first. No send is retried: that
// could be the cause of a duplicate.
func produce(ctx context.Context, nameserver primitive.NsResolver, topic string, count int) error {
	p, err := rocketmq.NewProducer(producer.WithGroupName(topic+"-producers"), producer.WithNsResolver(nameserver),
		producer.WithRetry(0))
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	for i := range count {
		result, err := p.SendSync(ctx, primitive.NewMessage(topic, []byte(body(i))))
		if err != nil {
			return fmt.Errorf("%s: %w", body(i), err)
		}
		if result.Status != primitive.SendOK {
			return fmt.Errorf("%s: %v", body(i), result)
		}
	}
	return p.Shutdown()
}

// consume returns how many of the messages came, and how many arrivals were of messages that had come before or were
// never sent. It reads the topic from its beginning until all have come or the context ends.
func consume(ctx context.Context, nameserver primitive.NsResolver, topic string, count int) (received, duplicates int, err error) {
	c, err := rocketmq.NewPushConsumer(consumer.WithGroupName(topic+"-consumers"), consumer.WithNsResolver(nameserver),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		return 0, 0, err
	}
	bodies := make(chan string)
	take := func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		for _, m := range messages {
			select {
			case bodies <- string(m.Body):
			case <-ctx.Done():
			}
		}
		return consumer.ConsumeSuccess, nil
	}
	if err := c.Subscribe(topic, consumer.MessageSelector{}, take); err != nil {
		return 0, 0, err
	}
	if err := c.Start(); err != nil {
		return 0, 0, err
	}
	received, duplicates = receive(ctx, bodies, count)
	return received, duplicates, c.Shutdown()
}

func receive(ctx context.Context, bodies <-chan string, count int) (received, duplicates int) {
	missing := make(map[string]bool, count)
	for i := range count {
		missing[body(i)] = true
	}
	var settled <-chan time.Time
	for {
		select {
		case b := <-bodies:
			if !missing[b] {
				duplicates++
			}
			delete(missing, b)
			if len(missing) == 0 && settled == nil {
				settled = time.After(settle)
			}
		case <-settled:
			return count, duplicates
		case <-ctx.Done():
			return count - len(missing), duplicates
		}
	}
}
