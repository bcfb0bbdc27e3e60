package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// sendEvery is the time between two messages of the fleet, whose clients take turns.
const sendEvery = 20 * time.Millisecond

// sendLimit is more than the default 3 s, which a crowded machine may need.
const sendLimit = 10 * time.Second

// fleetFlow is what the clients of a fleet have sent and received, by the messages' bodies.
type fleetFlow struct {
	mu            sync.Mutex
	sent, arrived map[string]bool
	failed        int
}

// fleet lets so many clients, each a producer and a push consumer of one group, send messages in turn, without retries,
// and receive them. It says "ready" when the first has come back, and "failed …" for each send that failed. Commands on standard
// input: report, answered by "report " and the counts, and stop: the result follows when all that was sent has come back.
func fleet(nameservers primitive.NsResolver, topic string, clients int) (result string, err error) {
	rlog.SetLogLevel("fatal") // what goes wrong shows in what was sent
	f := &fleetFlow{sent: map[string]bool{}, arrived: map[string]bool{}}
	var producers []rocketmq.Producer
	for i := range clients {
		p, err := f.join(fmt.Sprint("fleet-", i), nameservers, topic)
		if err != nil {
			return "", fmt.Errorf("client %d: %w", i, err)
		}
		producers = append(producers, p)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		f.sendSteadily(producers, topic, stop)
	}()
	if !f.await(func() bool { return len(f.arrived) > 0 }) {
		return "", fmt.Errorf("nothing has come back: %s", f.counts())
	}
	fmt.Println("ready")
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() && commands.Text() == "report" {
		fmt.Println("report " + f.counts())
	}
	close(stop)
	<-stopped
	f.await(func() bool { return f.missing() == 0 })
	return f.counts(), nil
}

// join starts a client: producer and consumer of one instance name share connections.
func (f *fleetFlow) join(name string, nameservers primitive.NsResolver, topic string) (rocketmq.Producer, error) {
	p, err := rocketmq.NewProducer(producer.WithGroupName(topic+"-producers"), producer.WithNsResolver(nameservers),
		producer.WithInstanceName(name), producer.WithRetry(0), producer.WithSendMsgTimeout(sendLimit))
	if err != nil {
		return nil, err
	}
	c, err := rocketmq.NewPushConsumer(consumer.WithGroupName(topic+"-consumers"), consumer.WithNsResolver(nameservers),
		consumer.WithInstance(name), consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		return nil, err
	}
	take := func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, m := range messages {
			f.arrived[string(m.Body)] = true
		}
		return consumer.ConsumeSuccess, nil
	}
	if err := c.Subscribe(topic, consumer.MessageSelector{}, take); err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return p, p.Start()
}

func (f *fleetFlow) sendSteadily(producers []rocketmq.Producer, topic string, stop chan struct{}) {
	ticker := time.NewTicker(sendEvery)
	defer ticker.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		err := send(context.Background(), producers[i%len(producers)], topic, body(i))
		f.mu.Lock()
		if err == nil {
			f.sent[body(i)] = true
		} else {
			f.failed++
			fmt.Println("failed", err)
		}
		f.mu.Unlock()
	}
}

// await waits until the condition holds, for a while.
func (f *fleetFlow) await(condition func() bool) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(pause) {
		f.mu.Lock()
		holds := condition()
		f.mu.Unlock()
		if holds || time.Now().After(deadline) {
			return holds
		}
	}
}

func (f *fleetFlow) missing() (n int) {
	for b := range f.sent {
		if !f.arrived[b] {
			n++
		}
	}
	return n
}

func (f *fleetFlow) counts() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("sent=%d failed=%d received=%d missing=%d", len(f.sent), f.failed, len(f.arrived), f.missing())
}
