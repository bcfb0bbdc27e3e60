package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// limit is the time for all of it; pause is before a send that failed is repeated. settle is how long the consumer
// listens on after the last expected message: only then can a duplicate be seen.
const (
	limit  = 180 * time.Second
	pause  = 100 * time.Millisecond
	settle = time.Second
)

// roundTrip produces messages to a topic and receives them with a push consumer.
func roundTrip(nameservers primitive.NsResolver, topic string, count int) (result string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	sends, err := produce(ctx, nameservers, topic, count)
	if err != nil {
		return "", fmt.Errorf("produce: %w", err)
	}
	received, duplicates, err := consume(ctx, nameservers, topic, sends)
	if err != nil {
		return "", fmt.Errorf("consume: %w", err)
	}
	result = fmt.Sprintf("sent=%d received=%d duplicates=%d", count, received, duplicates)
	if received != count || duplicates != 0 {
		return "", errors.New(result)
	}
	return result, nil
}

func body(i int) string { return fmt.Sprintf("message %d", i) }

// produce sends the messages one after the other and returns how often each was sent: a slow broker may have stored one
// whose sender has given up. The broker creates the topic for the first.
func produce(ctx context.Context, nameservers primitive.NsResolver, topic string, count int) (sends map[string]int, err error) {
	p, err := rocketmq.NewProducer(producer.WithGroupName(topic+"-producers"), producer.WithNsResolver(nameservers),
		producer.WithRetry(0))
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	sends = make(map[string]int, count)
	for i := range count {
		for {
			sends[body(i)]++
			err := send(ctx, p, topic, body(i))
			if err == nil {
				break
			}
			fmt.Fprintln(os.Stderr, err)
			select {
			case <-ctx.Done():
				return nil, err
			case <-time.After(pause):
			}
		}
	}
	return sends, p.Shutdown()
}

func send(ctx context.Context, p rocketmq.Producer, topic, body string) error {
	result, err := p.SendSync(ctx, primitive.NewMessage(topic, []byte(body)))
	if err != nil {
		return fmt.Errorf("%s: %w", body, err)
	}
	if result.Status != primitive.SendOK {
		return fmt.Errorf("%s: %v", body, result)
	}
	return nil
}

// consume returns how many of the messages came, and how often one came that had not been sent once more. It reads the
// topic from its beginning until all have come or the context ends.
func consume(ctx context.Context, nameservers primitive.NsResolver, topic string, sends map[string]int) (received, duplicates int, err error) {
	c, err := rocketmq.NewPushConsumer(consumer.WithGroupName(topic+"-consumers"), consumer.WithNsResolver(nameservers),
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
	received, duplicates = receive(ctx, bodies, sends)
	return received, duplicates, c.Shutdown()
}

func receive(ctx context.Context, bodies <-chan string, sends map[string]int) (received, duplicates int) {
	arrivals := make(map[string]int, len(sends))
	var settled <-chan time.Time
	for {
		select {
		case b := <-bodies:
			arrivals[b]++
			switch {
			case arrivals[b] > sends[b]:
				duplicates++
			case arrivals[b] == 1:
				received++
			}
			if received == len(sends) && settled == nil {
				settled = time.After(settle)
			}
		case <-settled:
			return received, duplicates
		case <-ctx.Done():
			return received, duplicates
		}
	}
}
