//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// sameBytes compares what nameservers answer as it is: Waymark's order is the same everywhere.
func sameBytes(body []byte) (string, error) { return string(body), nil }

// awaitSameRoutes waits until all nameservers list the same topics and answer the same routes for each of them, to clients
// of today and to old ones, in the form that compare gives them, and returns the routes by topic.
func awaitSameRoutes(t *testing.T, nameservers []*harness.Nameserver, form func([]byte) (string, error)) map[string]string {
	t.Helper()
	var first map[string]string
	err := harness.Eventually(backLimit, func() error {
		for i, n := range nameservers {
			routes, err := routesOf(n, form)
			if err != nil {
				return err
			}
			if i == 0 {
				first = routes
			} else if err := compareRoutes(first, routes); err != nil {
				return fmt.Errorf("%s and nameserver %d, %s: %w", nameservers[0].Program().Name, i+1, n.Program().Name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func routesOf(n *harness.Nameserver, form func([]byte) (string, error)) (map[string]string, error) {
	routes := map[string]string{}
	err := n.Ask(func(a *harness.Asker) error {
		topics, err := a.Topics()
		if err != nil {
			return err
		}
		for _, topic := range topics {
			for _, ask := range []func(string) ([]byte, error){a.RouteBytes, a.LegacyRouteBytes} {
				body, err := ask(topic)
				if err != nil {
					return err
				}
				if body == nil {
					return fmt.Errorf("%s lists %s and has no route of it", n.Program().Name, topic)
				}
				text, err := form(body)
				if err != nil {
					return err
				}
				routes[topic] += text + "\n"
			}
		}
		return nil
	})
	return routes, err
}

func compareRoutes(a, b map[string]string) error {
	var topics []string
	for topic := range a {
		topics = append(topics, topic)
	}
	for topic := range b {
		if _, both := a[topic]; !both {
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics)
	for _, topic := range topics {
		if a[topic] != b[topic] {
			return fmt.Errorf("routes of %s differ:\n%s\n%s", topic, a[topic], b[topic])
		}
	}
	return nil
}

// awaitRoute waits until a nameserver's route of a topic is as expected.
func awaitRoute(t *testing.T, n *harness.Nameserver, topic string, expected func(*harness.Route) bool) {
	t.Helper()
	err := harness.Eventually(backLimit, func() error {
		return n.Ask(func(a *harness.Asker) error {
			route, err := a.Route(topic)
			if err == nil && (route == nil || !expected(route)) {
				err = fmt.Errorf("route of %s: %v", topic, route)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
