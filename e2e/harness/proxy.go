package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// proxyStartLimit is long, as a proxy makes itself a key for TLS first.
const proxyStartLimit = 5 * time.Minute

// Proxy is Apache's proxy in cluster mode: its clients know nothing else, and it finds the brokers of DefaultCluster
// through its nameserver. It listens on all interfaces and can't be told otherwise.
type Proxy struct {
	GRPCAddr     string // where clients of the gRPC protocol find it
	RemotingAddr string // where clients of the remoting protocol find it, as if it were a nameserver and its broker

	java               *Java
	jars               Jars
	dir                string
	nameserver         string
	grpcPort, remoting int
	process            *Process
}

// NewProxy describes a proxy with its files below dir, which knows one nameserver by its address.
func NewProxy(java *Java, jars Jars, dir, nameserver string) (*Proxy, error) {
	grpcPort, err := FreePort()
	if err != nil {
		return nil, err
	}
	remoting, err := FreePort()
	if err != nil {
		return nil, err
	}
	if err := writeLogConfig(dir, logServer); err != nil { // makes dir
		return nil, err
	}
	return &Proxy{
		GRPCAddr: Loopback(grpcPort), RemotingAddr: Loopback(remoting),
		java: java, jars: jars, dir: dir, nameserver: nameserver, grpcPort: grpcPort, remoting: remoting,
	}, nil
}

// Start starts the proxy and waits until it takes connections.
func (p *Proxy) Start() error {
	config := filepath.Join(p.dir, "rmq-proxy.json")
	text, err := json.Marshal(p.settings())
	if err != nil {
		return fmt.Errorf("harness: settings of the proxy: %w", err)
	}
	if err := os.WriteFile(config, text, 0o644); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	p.process, err = StartProcess("proxy", p.dir, p.java.command(context.Background(), run{
		classPath: []string{p.jars.classPath()}, heapMiB: proxyHeapMiB, home: p.dir,
		options: serverOptions,
		class:   "org.apache.rocketmq.proxy.ProxyStartup", args: []string{"-pm", "cluster", "-pc", config},
	}))
	if err != nil {
		return err
	}
	return Eventually(proxyStartLimit, p.accepts, p.process)
}

const proxyHeapMiB = 256

func (p *Proxy) settings() map[string]any {
	return map[string]any{
		"rocketMQClusterName": "DefaultCluster",
		"namesrvAddr":         p.nameserver,
		"grpcServerPort":      p.grpcPort,
		"remotingListenPort":  p.remoting,
		"localServeAddr":      "127.0.0.1",
		"remotingAccessAddr":  "127.0.0.1",
	}
}

// accepts is nil once both of the proxy's servers take connections.
func (p *Proxy) accepts() error {
	for _, addr := range []string{p.GRPCAddr, p.RemotingAddr} {
		conn, err := net.DialTimeout("tcp", addr, askLimit)
		if err != nil {
			return fmt.Errorf("harness: proxy: %w", err)
		}
		_ = conn.Close()
	}
	return nil
}

// Kill ends the proxy's process and waits for its end.
func (p *Proxy) Kill() { killAndWait(p.process) }

// Logs returns the end of what the proxy logged.
func (p *Proxy) Logs() string { return tailOutput("proxy", p.dir) }
