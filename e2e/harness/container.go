package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Container is a process of Apache's broker container. Its brokers share one connection to each nameserver.
type Container struct {
	Addr string // where brokers are added and removed

	java       *Java
	jars       Jars
	dir        string
	port       int
	nameserver string
	brokers    []*Broker
	process    *Process
}

// NewContainer describes a container with its files below dir, which knows one nameserver by its address. Brokers are
// those that it starts with.
func NewContainer(java *Java, jars Jars, dir, nameserver string, brokers ...*Broker) (*Container, error) {
	port, err := FreeBrokerPort()
	if err != nil {
		return nil, err
	}
	if err := writeLogConfig(dir, logServer); err != nil { // makes dir
		return nil, err
	}
	return &Container{
		Addr: Loopback(port), java: java, jars: jars, dir: dir, port: port, nameserver: nameserver, brokers: brokers,
	}, nil
}

// Launch starts the container and waits for nothing. Its process is that of its brokers.
func (c *Container) Launch() error {
	configs := make([]string, len(c.brokers))
	for i, b := range c.brokers {
		if err := b.writeConfig(); err != nil {
			return err
		}
		configs[i] = b.ConfigFile()
	}
	config := filepath.Join(c.dir, "container.properties")
	if err := os.WriteFile(config, []byte(c.properties(configs)), 0o644); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	var err error
	c.process, err = StartProcess("broker container", c.dir, c.java.command(context.Background(), run{
		classPath: []string{c.jars.classPath()}, heapMiB: brokerHeapMiB, home: c.dir, options: serverOptions,
		class: "org.apache.rocketmq.container.BrokerContainerStartup", args: []string{"-c", config},
	}))
	for _, b := range c.brokers {
		b.process = c.process
	}
	return err
}

func (c *Container) properties(brokerConfigs []string) string {
	return strings.Join([]string{
		"bindAddress=127.0.0.1",
		"brokerContainerIP=127.0.0.1",
		fmt.Sprintf("listenPort=%d", c.port),
		"namesrvAddr=" + c.nameserver,
		"brokerConfigPaths=" + strings.Join(brokerConfigs, ":"),
	}, "\n") + "\n"
}

// Kill ends the container with all its brokers and waits for its end.
func (c *Container) Kill() { killAndWait(c.process) }

// Logs returns the end of what the container and its brokers logged.
func (c *Container) Logs() string { return tailOutput("broker container", c.dir) }
