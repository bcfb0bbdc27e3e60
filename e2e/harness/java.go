package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// ErrToolMissing says that a program which the tests need is not installed; the error around it names the program.
var ErrToolMissing = errors.New("harness: tool not installed")

// Java is the Java toolchain of this machine.
type Java struct {
	java, javac string
	peers       string // folder of pom.xml and the Java programs

	fetching sync.Mutex // one Maven at a time: its own repository can't be shared
}

// FindJava looks for java and javac on the path.
func FindJava(moduleRoot string) (*Java, error) {
	j := &Java{peers: filepath.Join(moduleRoot, "e2e", "peers", "java")}
	var err error
	if j.java, err = findTool("java"); err != nil {
		return nil, err
	}
	if j.javac, err = findTool("javac"); err != nil {
		return nil, err
	}
	return j, nil
}

func findTool(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrToolMissing, err)
	}
	return path, nil
}

// run describes one start of a Java program.
type run struct {
	classPath []string
	heapMiB   int
	home      string   // user.home, ROCKETMQ_HOME and folder for temporary files of the program: it writes nowhere else
	options   []string // further options of the JVM
	class     string
	args      []string
}

// command makes the command line of a Java program; the program is killed when ctx ends.
func (j *Java) command(ctx context.Context, r run) *exec.Cmd {
	args := []string{
		fmt.Sprintf("-Xms%dm", r.heapMiB), fmt.Sprintf("-Xmx%dm", r.heapMiB), "-XX:+UseSerialGC",
		"-XX:TieredStopAtLevel=1", // most live for seconds: the optimising compiler would take half of their time
		"-Djava.net.preferIPv4Stack=true", "-Duser.home=" + r.home, "-Djava.io.tmpdir=" + r.home,
	}
	args = append(args, r.options...)
	classPath := append([]string{confDir(r.home)}, r.classPath...)
	args = append(args, "-cp", strings.Join(classPath, string(os.PathListSeparator)), r.class)
	cmd := exec.CommandContext(ctx, j.java, append(args, r.args...)...)
	cmd.Dir = r.home
	cmd.Env = append(os.Environ(), "ROCKETMQ_HOME="+r.home, "HOME="+r.home)
	return cmd
}

// Compile compiles one of the Java programs in e2e/peers/java, with the classes there that it uses, against the jars of
// a version and returns the folder of classes, a new one under dir.
func (j *Java) Compile(jars Jars, source, dir string) (classes string, err error) {
	classes, err = os.MkdirTemp(dir, "classes-")
	if err != nil {
		return "", fmt.Errorf("harness: %w", err)
	}
	cmd := exec.Command(j.javac, "-d", classes, "-cp", jars.classPath(), "-sourcepath", j.peers, filepath.Join(j.peers, source))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("harness: compile %s for %s: %w\n%s", source, jars.Version, err, out)
	}
	return classes, nil
}

// Levels at which a Java part logs to its output. The tools' output is compared, so they log nothing.
const (
	logServer = "INFO"
	logTool   = "OFF"
)

// confDir is the folder in a program's home that comes first on its class path. It is where the log configuration of
// both generations is found: 5.x and 4.x clients look for it on the class path, other 4.x parts in the home, and they
// refuse to start without.
func confDir(home string) string { return filepath.Join(home, "conf") }

// logConfig takes the class of the appender and the level of the two loggers that tell about registrations. The
// others say too much about nothing.
const logConfig = `<configuration>
  <appender name="out" class="%s"><encoder><pattern>%%d %%p %%t - %%m%%n</pattern></encoder></appender>
  <logger name="RocketmqBroker" level="%[2]s"/>
  <logger name="RocketmqNamesrv" level="%[2]s"/>
  <root level="%[3]s"><appender-ref ref="out"/></root>
</configuration>
`

// writeLogConfig makes a home and sends what its program logs at the level to the program's standard output.
func writeLogConfig(home, level string) error {
	if err := os.MkdirAll(confDir(home), 0o755); err != nil {
		return fmt.Errorf("harness: %w", err)
	}
	others := "WARN"
	if level == logTool {
		others = logTool
	}
	const appender = "ch.qos.logback.core.ConsoleAppender"
	for file, class := range map[string]string{
		"rmq.logback-test.xml": "org.apache.rocketmq.logging." + appender,
		"logback.xml":          appender,
		"logback_namesrv.xml":  appender,
		"logback_broker.xml":   appender,
		"logback_tools.xml":    appender,
	} {
		text := fmt.Sprintf(logConfig, class, level, others)
		if err := os.WriteFile(filepath.Join(confDir(home), file), []byte(text), 0o644); err != nil {
			return fmt.Errorf("harness: %w", err)
		}
	}
	return nil
}
