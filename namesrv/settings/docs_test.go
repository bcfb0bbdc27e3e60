package settings

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write SETTINGS.md anew")

const docsFile = "../../SETTINGS.md"

const docsHead = `# Settings

All keys of the configuration file (` + "`-c FILE`" + `, Java properties) and of ` + "`updateNamesrvConfig`" + `. Names, types and defaults are those of
Apache RocketMQ 5.5.0 unless the table says "ours". A value that does not parse or is out of range stops the start with file, line and key; at run time
it is answered with code 1 and nothing of the request is applied. Blanks around a value do not matter. Keys of the file that are not known
are kept, shown and warned of; those of ` + "`" + `updateNamesrvConfig` + "`" + ` are accepted and logged, and kept only if the file has them, as with Apache.

**Works**: *at once*: the next request sees a new value; *restart*: it is kept and shown, and works once the server is started with it; *refused*: it can't be changed
while the server runs; *no effect*: Apache's key without a meaning here, accepted, kept and shown.

This page is made from the table in ` + "`namesrv/settings`" + `: ` + "`go test ./namesrv/settings -run TestDocs -update`" + `.
`

const docsTail = `
## TLS

Not keys but Java system properties, given as ` + "`-Dname=value`" + ` in the environment variables ` + "`JAVA_OPT` and `JAVA_OPT_EXT`" + `, as Apache's start script takes them, and all but the first two also in the file that the second names,
where they count more. The log names what was found where. They are read at the start; the files with certificates and key are looked at every half second.

| Property | Default | Meaning |
|---|---|---|
| tls.server.mode | ` + "`permissive`" + ` | ` + "`disabled`" + `: a TLS hello closes the connection; ` + "`permissive`" + `: both; ` + "`enforcing`" + `: TLS only. Another word is permissive, and warned of. |
| tls.config.file | ` + "`/etc/rocketmq/tls.properties`" + ` | Properties file; it need not exist. |
| tls.test.mode.enable | ` + "`true`" + ` | The server makes itself a certificate at the start; client certificates are optional, and those below don't count. |
| tls.server.certPath | | PEM file with the certificate and those between it and the authority. |
| tls.server.keyPath | | PEM file with its key: PKCS#8, plain or encrypted (PBES2), PKCS#1 or SEC 1. |
| tls.server.keyPassword | | Password of an encrypted key. |
| tls.server.need.client.auth | ` + "`none`" + ` | ` + "`none`, `optional` or `require`" + `: whether clients are asked for a certificate. |
| tls.server.authClient | ` + "`false`" + ` | A client's certificate must come from an authority that is trusted; else any will do, which is warned of if one is required. |
| tls.server.trustCertPath | | PEM file with the authorities trusted; without it they are the system's. |
`

func docs() []byte {
	var out bytes.Buffer
	out.WriteString(docsHead)
	titles := map[Group]string{
		NameServer:    "## Name server",
		ServerNetwork: "## Server network",
		ClientNetwork: "## Client network\n\nRead from the file only: they concern the connections to brokers, and `getNamesrvConfig` shows them when they stand in the file.",
		Ours:          "## Ours\n\n`getNamesrvConfig` shows them once they are set.",
	}
	for i, k := range keys {
		if i == 0 || keys[i-1].Group != k.Group {
			fmt.Fprintf(&out, "\n%s\n\n| Key | Type | Default | Works | Meaning |\n|---|---|---|---|---|\n", titles[k.Group])
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s |\n", k.Name, docsType(&k), docsDefault(&k), docsEffect(&k), k.Meaning)
	}
	out.WriteString(docsTail)
	return out.Bytes()
}

func docsType(k *Key) string {
	switch {
	case k.Max > k.Min && k.Min == math.MinInt32:
		return fmt.Sprintf("%s, up to %d", k.Type(), k.Max)
	case k.OrZero:
		return fmt.Sprintf("%s, 0 or %d to %d", k.Type(), k.Min, k.Max)
	case k.Max > k.Min:
		return fmt.Sprintf("%s, %d to %d", k.Type(), k.Min, k.Max)
	case k.NotEmpty:
		return k.Type() + ", not empty"
	}
	return k.Type()
}

func docsDefault(k *Key) string {
	if k.Default == "" {
		return ""
	}
	if k.Property != "" {
		return fmt.Sprintf("`%s` (`-D%s`)", k.Default, k.Property)
	}
	return "`" + k.Default + "`"
}

func docsEffect(k *Key) string {
	if Default(Env{}).blackList[k.Name] {
		return "refused"
	}
	return map[Effect]string{AtOnce: "at once", AtRestart: "restart", Never: "no effect"}[k.Effect]
}

// TestDocs holds SETTINGS.md to the table.
func TestDocs(t *testing.T) {
	want := docs()
	if *update {
		if err := os.WriteFile(docsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is out of date: run with -update", docsFile)
	}
	if strings.Count(string(want), "\n| ") != len(keys)+4+10 {
		t.Error("a row is missing or too many")
	}
}
