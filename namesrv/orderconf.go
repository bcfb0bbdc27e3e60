package namesrv

import (
	"fmt"
	"strconv"
	"strings"
)

// checkOrderConf tells why an order configuration would make clients fail. They
// read broker:queues pairs joined by ";" without checks.
func checkOrderConf(conf string) error {
	for pair := range strings.SplitSeq(conf, ";") {
		name, count, ok := strings.Cut(pair, ":")
		n, err := strconv.ParseInt(count, 10, 32)
		if !ok || name == "" || err != nil || n <= 0 {
			return fmt.Errorf("order configuration %q is not broker:queues joined by semicolons", conf)
		}
	}
	return nil
}
