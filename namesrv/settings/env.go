package settings

import (
	"os/user"
	"strings"
)

// Env is what the process's surroundings say before any file is read.
type Env struct {
	// HomeDir is the user's home: the default place of both files.
	HomeDir string
	// RocketmqHome is the installation directory; "" is no error.
	RocketmqHome string
	// Properties are the Java system properties given to the process by name.
	Properties map[string]string
	// Origins names the environment variable that each of them was read from.
	Origins map[string]string
}

// ProcessEnv reads the environment as Apache's start script and server do: the
// -Dname=value words of JAVA_OPT and JAVA_OPT_EXT are system properties
// (user.home and rocketmq.home.dir among them), which count before HOME and
// ROCKETMQ_HOME.
func ProcessEnv(getenv func(string) string) Env {
	properties, origins := make(map[string]string), make(map[string]string)
	for _, variable := range []string{"JAVA_OPT", "JAVA_OPT_EXT"} {
		for _, word := range strings.Fields(getenv(variable)) {
			if definition, ok := strings.CutPrefix(word, "-D"); ok {
				name, value, _ := strings.Cut(definition, "=")
				properties[name], origins[name] = value, variable
			}
		}
	}
	env := Env{HomeDir: getenv("HOME"), RocketmqHome: getenv("ROCKETMQ_HOME"), Properties: properties, Origins: origins}
	if home, ok := properties["user.home"]; ok {
		env.HomeDir = home
	}
	if home, ok := properties["rocketmq.home.dir"]; ok {
		env.RocketmqHome = home
	}
	if env.HomeDir == "" { // a service without HOME still has an entry among the users
		if u, err := user.Current(); err == nil {
			env.HomeDir = u.HomeDir
		}
	}
	return env
}
