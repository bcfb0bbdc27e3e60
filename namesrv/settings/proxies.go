package settings

import "github.com/waymark-mq/waymark/namesrv/access"

// TrustsProxy says whose PROXY headers are believed, by the socket's host:port; nil: everybody's. It may be called from
// any goroutine.
func (s *Settings) TrustsProxy() func(peer string) bool {
	trusted, err := access.ParseList(s.ProxyProtocolTrusted) // what was set has parsed
	switch {
	case err != nil:
		return func(string) bool { return false }
	case trusted.Empty():
		return nil
	}
	return func(peer string) bool { return trusted.Has(access.Peer(peer)) }
}
