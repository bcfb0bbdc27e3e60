package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// ApacheVersion is the release of Apache's nameserver that is compared with.
const ApacheVersion = "5.5.0"

// Apache is Apache's nameserver with the collector that its start script chooses and a heap of so many MiB (the script's own 4 GiB would
// measure how much memory the machine has).
func Apache(moduleRoot string, heapMiB int) (*Server, error) {
	jars, err := apacheJars(moduleRoot)
	if err != nil {
		return nil, err
	}
	return apache("apache", jars, heapMiB,
		"-server", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=16m", "-XX:G1ReservePercent=25", "-XX:InitiatingHeapOccupancyPercent=30",
		"-XX:SoftRefLRUPolicyMSPerMB=0", "-XX:-OmitStackTraceInFastThrow"), nil
}

// ApacheTuned is Apache's nameserver as small as it gets: the serial collector, a small heap, and an archive of its loaded classes, which is
// made below dir by a first run.
func ApacheTuned(ctx context.Context, moduleRoot, dir string, heapMiB int) (*Server, error) {
	jars, err := apacheJars(moduleRoot)
	if err != nil {
		return nil, err
	}
	archive := filepath.Join(dir, "apache-"+ApacheVersion+".jsa")
	options := []string{"-XX:+UseSerialGC", "-Xshare:auto"}
	first := apache("apache-tuned", jars, heapMiB, append(options, "-XX:ArchiveClassesAtExit="+archive)...)
	running, err := first.Start(ctx)
	if err != nil {
		return nil, err
	}
	// Asked to stop it ends with a status of its own, after it has written the archive.
	if err := running.process.Stop(time.Minute); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, fmt.Errorf("servers: archive of classes: %w", err)
	}
	if err := running.Stop(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(archive); err != nil {
		return nil, fmt.Errorf("servers: archive of classes: %w", err)
	}
	return apache("apache-tuned", jars, heapMiB, append(options, "-XX:SharedArchiveFile="+archive)...), nil
}

func apacheJars(moduleRoot string) (harness.Jars, error) {
	java, err := harness.FindJava(moduleRoot)
	if err != nil {
		return harness.Jars{}, fmt.Errorf("servers: apache: %w", err)
	}
	jars, err := java.Jars(ApacheVersion)
	if err != nil {
		return harness.Jars{}, fmt.Errorf("servers: apache: %w", err)
	}
	return jars, nil
}

func apache(name string, jars harness.Jars, heapMiB int, options ...string) *Server {
	return &Server{Name: name, command: func(s *Server, port int, dir string) (*exec.Cmd, error) {
		config, err := writeConfig(dir, port)
		if err != nil {
			return nil, err
		}
		args := []string{fmt.Sprintf("-Xms%dm", heapMiB), fmt.Sprintf("-Xmx%dm", heapMiB), "-Duser.home=" + dir}
		args = append(append(args, options...), "-cp", filepath.Join(jars.Dir, "*"), "org.apache.rocketmq.namesrv.NamesrvStartup", "-c", config)
		cmd := exec.Command("java", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+dir, "HOME="+dir)
		return cmd, nil
	}}
}
