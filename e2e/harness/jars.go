package harness

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// JarSet names jars that are used together. It is a folder below the Java programs, whose pom.xml lists them.
type JarSet string

const (
	coreJars    JarSet = "."       // nameserver, broker, admin tool and the client of the remoting protocol
	ServerJars  JarSet = "servers" // broker container and proxy
	GRPCClients JarSet = "grpc"    // the client of the proxy's gRPC protocol
)

// cacheName is the name of the set's folder in the cache.
func (s JarSet) cacheName(version string) string {
	if s == coreJars {
		return version
	}
	return string(s) + "-" + version
}

// Jars is a folder with Apache RocketMQ's jars of one version and all they need.
type Jars struct {
	Version string
	Dir     string
}

func (j Jars) classPath() string { return filepath.Join(j.Dir, "*") }

// Jars returns the jars of a version from the cache, and fetches them by Maven first if they are not there.
func (j *Java) Jars(version string) (Jars, error) { return j.JarsOf(coreJars, version) }

// JarsOf is Jars for another set.
func (j *Java) JarsOf(set JarSet, version string) (Jars, error) {
	j.fetching.Lock()
	defer j.fetching.Unlock()
	cache, err := cacheDir()
	if err != nil {
		return Jars{}, err
	}
	const pom = "pom.xml"
	folder := filepath.Join(j.peers, string(set))
	digest, err := digestOf(folder, pom)
	if err != nil {
		return Jars{}, err
	}
	dir, err := cachedDir(cache, set.cacheName(version), digest, func(dir string) error {
		return fetchByMaven(filepath.Join(folder, pom), version, dir)
	})
	if err != nil {
		return Jars{}, err
	}
	return Jars{Version: version, Dir: dir}, nil
}

func fetchByMaven(pom, version, dir string) error {
	mvn, err := findTool("mvn")
	if err != nil {
		return fmt.Errorf("harness: jars of %s are not cached: %w", version, err)
	}
	cmd := exec.Command(mvn, "-q", "-B", "-f", pom, "-Drocketmq.version="+version,
		"dependency:copy-dependencies", "-DoutputDirectory="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("harness: fetch jars of %s: %w\n%s", version, err, out)
	}
	return nil
}
