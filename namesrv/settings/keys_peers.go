package settings

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// peerKeys are ours: the other nameservers, and what clients are told of them. None can be changed by UPDATE_NAMESRV_CONFIG: whoever may send that
// could make this server believe others, or lead clients away.
var peerKeys = []Key{
	{Name: "peers", Effect: AtRestart, protected: true, check: checkPeers,
		field:   func(s *Settings) any { return &s.Peers },
		Meaning: "The other nameservers, each `host:port` of its `peerListenAddress`, separated by `;` or `,`; this one may be among them. A name counts with all its addresses and is looked up again while somebody is missing; without a port it has that of `peerListenAddress`."},
	{Name: "peerListenAddress", Effect: AtRestart, protected: true, check: checkListen,
		field:   func(s *Settings) any { return &s.PeerListenAddress },
		Meaning: "Address, `host:port`, for other nameservers, TCP and UDP. Empty: nothing is listened to and nothing sent; `peers` needs it."},
	{Name: "peerAdvertiseAddress", Effect: AtRestart, protected: true, check: checkIPPort,
		field:   func(s *Settings) any { return &s.PeerAdvertiseAddress },
		Meaning: "Where the others reach `peerListenAddress`, `ip:port`. Empty: that address itself or, if it is none in particular, this machine's first private one."},
	{Name: "peerKey", Effect: AtRestart, protected: true, secret: true, check: checkPeerKeys,
		field:   func(s *Settings) any { return &s.PeerKey },
		Meaning: "Keys that what nameservers say to each other is encrypted with: base64 of 16, 24 or 32 bytes, separated by commas. The first encrypts, all decrypt: to change one, add the new one behind the old everywhere, then in front, then take the old one away. Empty: whoever reaches the address reads, and may say, anything. It is never shown."},
	{Name: "peerName", Effect: AtRestart, protected: true, check: checkPeerName,
		field:   func(s *Settings) any { return &s.PeerName },
		Meaning: "This server's name among the nameservers, which no other may have. Empty: the address that the others reach it at."},
	{Name: "kvSync", Default: "false", Effect: AtRestart, protected: true,
		field:   func(s *Settings) any { return &s.KVSync },
		Meaning: "After the start, KV namespaces that this server doesn't have at all are taken over, once, from the first of the `peers` that is ready. The start waits for it for 5 s at the most, or for 1 s if all that are reached start as well. Nothing is ever overwritten."},
	{Name: "advertiseAddress", Effect: AtRestart, protected: true, check: checkIPMaybePort,
		field:   func(s *Settings) any { return &s.AdvertiseAddress },
		Meaning: "Where clients reach this server, `ip` or `ip:port`, as the address server and the other nameservers tell it. Empty: `bindAddress` or, if that is none in particular, the address that the other nameservers reach this one at, or this machine's first private one."},
	{Name: "addressServerListen", Effect: AtRestart, protected: true, check: checkListen,
		field:   func(s *Settings) any { return &s.AddressServerListen },
		Meaning: "Address, `host:port`, of an HTTP server that tells clients the nameservers that are ready: `/rocketmq/nsaddr` and `/rocketmq/nsaddr-UNIT`, for clients' `rocketmq.namesrv.domain`. Empty: none."},
}

// Unmet is a key that needs another which isn't set, and what; "": there is none. Settings that came through Load have none.
func (s *Settings) Unmet() (key, what string) {
	if s.Peers != "" && s.PeerListenAddress == "" {
		return "peers", "peerListenAddress must be set, where the others reach this server"
	}
	return "", ""
}

// PeerList is whom to join.
func (s *Settings) PeerList() []string { return splitList(s.Peers) }

// PeerKeys are the keys of peerKey, the one that encrypts first. Settings that came through Load have no error.
func (s *Settings) PeerKeys() (keys [][]byte, err error) {
	for _, text := range splitList(s.PeerKey) {
		key, err := base64.StdEncoding.DecodeString(text)
		if n := len(key); err != nil || (n != 16 && n != 24 && n != 32) {
			return nil, fmt.Errorf("key %d of the list is not base64 of 16, 24 or 32 bytes", len(keys)+1) // never the key itself
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func splitList(text string) (items []string) {
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
		if item = trim(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func checkPeers(text string) error {
	const most = 64
	items := splitList(text)
	if len(items) > most {
		return fmt.Errorf("%d nameservers, at most %d", len(items), most)
	}
	for _, item := range items {
		host, port, err := net.SplitHostPort(item)
		if err != nil {
			host, port = item, "1"
		}
		if _, err := netip.ParseAddr(host); (err != nil && !isHostName(host)) || !isPort(port, 1) {
			return fmt.Errorf("%s is no host:port", quote(item))
		}
	}
	return nil
}

func checkListen(text string) error {
	host, port, err := net.SplitHostPort(text)
	if text == "" || (err == nil && isPort(port, 0) && (host == "" || checkBindAddress(host) == nil)) {
		return nil
	}
	return fmt.Errorf("%s is no host:port to listen on", quote(text))
}

func checkIPPort(text string) error {
	if a, err := netip.ParseAddrPort(text); text != "" && (err != nil || a.Port() == 0 || a.Addr().IsUnspecified()) {
		return fmt.Errorf("%s is no ip:port that others can reach", quote(text))
	}
	return nil
}

func checkIPMaybePort(text string) error {
	if a, err := netip.ParseAddr(text); err == nil && !a.IsUnspecified() {
		return nil
	}
	return checkIPPort(text)
}

func checkPeerKeys(text string) error {
	_, err := (&Settings{PeerKey: text}).PeerKeys()
	return err
}

func checkPeerName(text string) error {
	const most = 255
	if len(text) > most {
		return fmt.Errorf("%d bytes, at most %d", len(text), most)
	}
	return nil
}

func isPort(text string, least int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= least && n <= 65535
}
