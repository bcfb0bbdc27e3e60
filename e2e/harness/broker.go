package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// RegistrationPeriod is the time between two registrations of a harness's broker: the shortest that brokers accept.
const RegistrationPeriod = 10 * time.Second

// brokerStartLimit is long: a 5.x broker may miss its first registration at the start and register 10 s later.
const brokerStartLimit = 60 * time.Second

// Broker is an Apache broker that registers with one nameserver, on one set of ports for its whole life.
type Broker struct {
	Name, Cluster string
	Addr          string // as it registers itself
	Dir           string // its home: store, logs, properties

	java       *Java
	jars       Jars
	nameserver *Nameserver
	port       int
	process    *Process
}

// NewBroker describes a broker of the version of jars, with its files below dir.
func NewBroker(java *Java, jars Jars, nameserver *Nameserver, name, dir string) (*Broker, error) {
	port, err := FreeBrokerPort()
	if err != nil {
		return nil, err
	}
	if err := writeLogConfig(dir, logServer); err != nil { // makes dir
		return nil, err
	}
	return &Broker{
		Name: name, Cluster: "DefaultCluster", Addr: Loopback(port), Dir: dir,
		java: java, jars: jars, nameserver: nameserver, port: port,
	}, nil
}

// Start starts the broker, on the store it left behind if there is one, and waits until the nameserver lists it.
func (b *Broker) Start() error {
	config := filepath.Join(b.Dir, "broker.properties")
	if err := os.WriteFile(config, []byte(b.properties()), 0o644); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	var err error
	b.process, err = StartProcess("broker "+b.Name, b.Dir, b.java.command(context.Background(), run{
		classPath: []string{b.jars.classPath()}, heapMiB: 384, home: b.Dir,
		options: []string{
			"-XX:MaxDirectMemorySize=256m",
			"--add-opens=java.base/java.lang=ALL-UNNAMED",
			"--add-opens=java.base/java.nio=ALL-UNNAMED",
			"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
			"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
		},
		class: "org.apache.rocketmq.broker.BrokerStartup", args: []string{"-c", config},
	}))
	if err != nil {
		return err
	}
	return b.AwaitRegistered(brokerStartLimit)
}

// properties are those of a small broker on the loopback interface.
func (b *Broker) properties() string {
	store := filepath.Join(b.Dir, "store")
	return strings.Join([]string{
		"brokerClusterName=" + b.Cluster,
		"brokerName=" + b.Name,
		"brokerId=0",
		"namesrvAddr=" + b.nameserver.Addr,
		fmt.Sprintf("registerNameServerPeriod=%d", RegistrationPeriod.Milliseconds()),
		"bindAddress=127.0.0.1",
		"brokerIP1=127.0.0.1",
		"brokerIP2=127.0.0.1",
		fmt.Sprintf("listenPort=%d", b.port),
		fmt.Sprintf("haListenPort=%d", b.port+1),
		"autoCreateTopicEnable=true",
		"storePathRootDir=" + store,
		"storePathCommitLog=" + filepath.Join(store, "commitlog"),
		"mappedFileSizeCommitLog=16777216",
		"mappedFileSizeConsumeQueue=600000",
		"maxHashSlotNum=10000",
		"maxIndexNum=40000",
		// The disk of a test machine may be fuller than a broker likes.
		"diskMaxUsedSpaceRatio=95",
		"",
	}, "\n")
}

// AwaitRegistered waits until the nameserver lists the broker.
func (b *Broker) AwaitRegistered(limit time.Duration) error {
	return Eventually(limit, func() error {
		return b.nameserver.Ask(func(a *Asker) error {
			listed, err := a.HasBroker(b.Name, b.Addr)
			if err == nil && !listed {
				err = fmt.Errorf("harness: %s does not list broker %s at %s", b.nameserver.Name, b.Name, b.Addr)
			}
			return err
		})
	}, b.process)
}

// Process is the broker's running or last process; nil before the first start.
func (b *Broker) Process() *Process { return b.process }

// Running reports whether the broker's process runs.
func (b *Broker) Running() bool { return b.process != nil && b.process.Running() }

// Kill ends the broker's process and waits for its end.
func (b *Broker) Kill() { killAndWait(b.process) }

// Logs returns the end of what the broker logged.
func (b *Broker) Logs() string { return tailOutput("broker "+b.Name, b.Dir) }
