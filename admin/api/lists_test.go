package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// Names may hold any character: each is found by its escaped name, and pages by it.
func TestNamesOfAnyCharacters(t *testing.T) {
	f := start(t)
	names := []string{"%RETRY%group", "a/b", "a b", "ä😀", `quo"te`, "..", ".", "?x=1&y#z", "+", "%2F", "<script>", "a//b/"}
	f.dial().register("na/me %41", 1, names)
	f.dial().ask(codec.ResponseSuccess, codec.RequestPutKVConfig, "", "namespace", "n/s", "key", "k/%", "value", "v\n\x00")
	for _, name := range names {
		var got struct{ Topic string }
		if f.get(200, "topics/"+url.PathEscape(name), &got); got.Topic != name {
			t.Errorf("%q: %q", name, got.Topic)
		}
	}
	var broker struct{ Name string }
	if f.get(200, "brokers/"+url.PathEscape("na/me %41"), &broker); broker.Name != "na/me %41" {
		t.Errorf("broker %q", broker.Name)
	}
	var kv struct{ Entries []struct{ Key, Value string } }
	if f.get(200, "kv/"+url.PathEscape("n/s"), &kv); len(kv.Entries) != 1 || kv.Entries[0].Key != "k/%" || kv.Entries[0].Value != "v\n\x00" {
		t.Errorf("KV %+v", kv)
	}
	var all []string
	for after, more := "", true; more; {
		var page struct {
			Topics []struct{ Name string }
			Next   *string
		}
		f.get(200, "topics?limit=5&after="+url.QueryEscape(after), &page)
		for _, topic := range page.Topics {
			all = append(all, topic.Name)
		}
		if more = page.Next != nil; more {
			after = *page.Next
		}
	}
	slices.Sort(names)
	if !slices.Equal(all, names) {
		t.Errorf("pages have %q, want %q", all, names)
	}
	// Through a server and its mux too, which have an opinion on dots and slashes.
	mux := http.NewServeMux()
	mux.Handle(Prefix, f.api)
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, name := range []string{"%RETRY%group", "a/b", "a//b/", "..", "%2F"} {
		answer, err := http.Get(server.URL + Prefix + "topics/" + strings.ReplaceAll(url.PathEscape(name), ".", "%2E"))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%q: %s", name, answer.Status)
		}
	}
}

// Every list is cut into pages of the size asked for, each part once, and goes on behind the last.
func TestLists(t *testing.T) {
	f := start(t)
	b := f.dial()
	const n = 7
	for i := range n {
		b.register(fmt.Sprint("b", i), 1, []string{fmt.Sprint("T", i), "pad"}, "clusterName", fmt.Sprint("c", i))
		b.ask(codec.ResponseSuccess, codec.RequestPutKVConfig, "", "namespace", fmt.Sprint("n", i), "key", "k", "value", "v")
		b.ask(codec.ResponseSuccess, codec.RequestPutKVConfig, "", "namespace", "n0", "key", fmt.Sprint("k", i), "value", "v")
	}
	for range n - 1 {
		f.dial().ask(codec.ResponseTopicNotExist, codec.RequestGetRouteInfoByTopic, "", "topic", "none")
	}
	for _, tt := range []struct {
		path, list, name string
		want             int
	}{
		{"clusters?", "clusters", "name", n},
		{"brokers?", "brokers", "name", n},
		{"brokers?cluster=c3&", "brokers", "name", 1},
		{"brokers?cluster=none&", "brokers", "name", 0},
		{"topics?", "topics", "name", n + 1},
		{"topics?prefix=T&", "topics", "name", n},
		{"kv?", "namespaces", "name", n},
		{"kv/n0?", "entries", "key", n + 1},
		{"connections?", "connections", "id", n},
	} {
		for _, limit := range []int{1, 3, 1000} {
			seen := map[string]bool{}
			for after, pages := "", 0; ; pages++ {
				var page map[string]json.RawMessage
				f.get(200, fmt.Sprintf("%slimit=%d&after=%s", tt.path, limit, url.QueryEscape(after)), &page)
				var items []map[string]any
				if err := json.Unmarshal(page[tt.list], &items); err != nil || len(items) > limit || pages > n+2 {
					t.Fatalf("%s: page %d of %d, limit %d, %v", tt.path, pages, len(items), limit, err)
				}
				for _, item := range items {
					seen[fmt.Sprint(item[tt.name])] = true
				}
				if page["next"] == nil {
					break
				}
				if after = string(page["next"]); after[0] == '"' {
					after, _ = strconv.Unquote(after)
				}
			}
			if len(seen) != tt.want {
				t.Errorf("%s limit %d: %d parts, want %d: %v", tt.path, limit, len(seen), tt.want, seen)
			}
		}
	}
	var brokers struct {
		Brokers []struct {
			Topics       int
			TopicsByPerm map[string]int
		}
	}
	if f.get(200, "brokers?limit=1", &brokers); brokers.Brokers[0].Topics != 2 || brokers.Brokers[0].TopicsByPerm["6"] != 2 {
		t.Errorf("%+v", brokers)
	}
	var config struct{ Config []struct{ Key, Value string } }
	if f.get(200, "config", &config); len(config.Config) < 30 || config.Config[0].Key >= config.Config[1].Key {
		t.Errorf("%d settings", len(config.Config))
	}
}
