package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// RegistrationPeriod is the time between two registrations of a harness's broker: the shortest that brokers accept.
const RegistrationPeriod = 10 * time.Second

// brokerStartLimit is long: a 5.x broker may miss its first registration at the start and register 10 s later.
const brokerStartLimit = 3 * time.Minute

// BrokerConfig says which broker to start, and where it registers.
type BrokerConfig struct {
	Jars        Jars
	Name        string // brokerName; brokers of one name are master and slaves
	Cluster     string // DefaultCluster when empty
	ID          int    // brokerId: 0 is the master; others become slaves
	Nameservers []*Nameserver
	Domain      string   // host:port of the address server that it asks for its nameservers; empty: it is told them
	Properties  []string // key=value, beside the harness's; the later of two wins
	Options     []string // of the JVM
	Env         []string // name=value, beside the caller's
	Host        *Host    // where it runs, and with which address; nil: on the loopback interface
}

// Broker is an Apache broker that registers with its nameservers, on one set of ports for its whole life.
type Broker struct {
	BrokerConfig
	Addr string // as it registers itself
	Dir  string // its home: store, logs, properties

	java    *Java
	port    int
	process *Process
}

// NewBroker describes a broker with its files below dir.
func NewBroker(java *Java, config BrokerConfig, dir string) (*Broker, error) {
	port, err := FreeBrokerPort()
	if err != nil {
		return nil, err
	}
	if err := writeLogConfig(dir, logServer); err != nil { // makes dir
		return nil, err
	}
	if config.Cluster == "" {
		config.Cluster = "DefaultCluster"
	}
	b := &Broker{BrokerConfig: config, Dir: dir, java: java, port: port}
	b.Addr = fmt.Sprintf("%s:%d", b.ip(), port)
	return b, nil
}

// ip is the address that the broker listens on and registers.
func (b *Broker) ip() string {
	if b.Host != nil {
		return b.Host.Addr
	}
	return "127.0.0.1"
}

// HAAddr is where a master serves its slaves.
func (b *Broker) HAAddr() string { return fmt.Sprintf("%s:%d", b.ip(), b.port+1) }

// Start starts the broker, on the store it left behind if there is one, and waits until its nameservers list it.
func (b *Broker) Start() error {
	if err := b.Launch(); err != nil {
		return err
	}
	return b.AwaitRegistered(brokerStartLimit)
}

// Launch starts the broker and waits for nothing.
func (b *Broker) Launch() error {
	if err := b.writeConfig(); err != nil {
		return err
	}
	cmd := b.java.command(context.Background(), run{
		classPath: []string{b.Jars.classPath()}, heapMiB: brokerHeapMiB, home: b.Dir,
		options: slices.Concat(serverOptions, b.domainOption(), b.Options),
		class:   "org.apache.rocketmq.broker.BrokerStartup", args: []string{"-c", b.ConfigFile()},
	})
	cmd.Env = append(cmd.Env, b.Env...)
	if b.Host != nil {
		if err := within(b.Host.Namespace, cmd); err != nil {
			return err
		}
	}
	var err error
	b.process, err = StartProcess("broker "+b.Name, b.Dir, cmd)
	return err
}

// ConfigFile is the properties file that a start writes and the broker reads.
func (b *Broker) ConfigFile() string { return filepath.Join(b.Dir, "broker.properties") }

func (b *Broker) writeConfig() error {
	if err := os.WriteFile(b.ConfigFile(), []byte(b.properties()), 0o644); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	return nil
}

const brokerHeapMiB = 384

// serverOptions open to Apache's servers what they reach into on Java 17.
var serverOptions = []string{
	"-XX:MaxDirectMemorySize=256m",
	"--add-opens=java.base/java.lang=ALL-UNNAMED",
	"--add-opens=java.base/java.nio=ALL-UNNAMED",
	"--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
	"--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
}

// properties are those of a small broker on the loopback interface.
func (b *Broker) properties() string {
	role := "ASYNC_MASTER"
	if b.ID != 0 {
		role = "SLAVE"
	}
	store := filepath.Join(b.Dir, "store")
	lines := []string{
		"brokerClusterName=" + b.Cluster,
		"brokerName=" + b.Name,
		fmt.Sprintf("brokerId=%d", b.ID),
		"brokerRole=" + role,
		b.findsNameservers(),
		fmt.Sprintf("registerNameServerPeriod=%d", RegistrationPeriod.Milliseconds()),
		"bindAddress=" + b.ip(),
		"brokerIP1=" + b.ip(),
		"brokerIP2=" + b.ip(),
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
		// It may also be so slow that a broker would call itself busy, and refuse.
		"waitTimeMillsInSendQueue=60000",
		"waitTimeMillsInTransactionQueue=60000",
		"osPageCacheBusyTimeOutMills=60000",
		// Idle 5.x brokers compare all of their timer wheel with its file each second, and after the first transaction
		// one thread never sleeps again unless its next turn is far off. Messages with a delay level need neither.
		"timerWheelEnable=false",
		"transactionOpBatchInterval=600000",
		"transactionOpMsgMaxSize=1",           // writes at once what that would hold back
		"transactionMetricFlushInterval=2000", // another thread that doesn't sleep before its first turn
	}
	return strings.Join(append(lines, b.Properties...), "\n") + "\n"
}

// findsNameservers is the line of the properties that tells how. A broker that is told any asks nobody.
func (b *Broker) findsNameservers() string {
	if b.Domain != "" {
		return "fetchNamesrvAddrByAddressServer=true"
	}
	return "namesrvAddr=" + Addrs(b.Nameservers)
}

func (b *Broker) domainOption() []string {
	if b.Domain == "" {
		return nil
	}
	return []string{"-Drocketmq.namesrv.domain=" + b.Domain}
}

// Addrs is a list of nameservers as peers' settings write it.
func Addrs(nameservers []*Nameserver) string {
	addrs := make([]string, len(nameservers))
	for i, n := range nameservers {
		addrs[i] = n.Addr
	}
	return strings.Join(addrs, ";")
}

// AwaitRegistered waits until every nameserver of the broker that runs lists it.
func (b *Broker) AwaitRegistered(limit time.Duration) error {
	for _, n := range b.Nameservers {
		if !n.Running() {
			continue
		}
		if err := b.AwaitRegisteredAt(n, limit); err != nil {
			return err
		}
	}
	return nil
}

// AwaitRegisteredAt waits until one nameserver lists the broker.
func (b *Broker) AwaitRegisteredAt(n *Nameserver, limit time.Duration) error {
	return Eventually(limit, func() error {
		return n.Ask(func(a *Asker) error {
			listed, err := a.HasBroker(b.Name, b.Addr)
			if err == nil && !listed {
				err = fmt.Errorf("harness: %s does not list broker %s at %s", n.program.Name, b.Name, b.Addr)
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
func (b *Broker) Logs() string { return tailOutput(fmt.Sprintf("broker %s %d", b.Name, b.ID), b.Dir) }

// Output returns all that the broker has printed and logged since its first start.
func (b *Broker) Output() (string, error) {
	text, err := os.ReadFile(filepath.Join(b.Dir, outputFile))
	if err != nil {
		return "", fmt.Errorf("harness: output of broker %s %d: %w", b.Name, b.ID, err)
	}
	return string(text), nil
}
