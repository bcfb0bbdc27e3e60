// Package peers is what a nameserver has to do with the others: who they are, what they say of brokers, and whether they hold the same.
//
// Who is there, who is suspected and what everybody says of himself is hashicorp/memberlist's work. Over it go messages of our own
// (message.go), each from one nameserver to one other and never passed on:
//
//	beacon  every second, by UDP: the sender's time, and the digests of what it holds
//	words   by TCP, when there is something to tell of brokers (package verdict)
//	ask     by TCP: which brokers, topics of a broker or KV entries the receiver holds, a page of them
//	answer  by TCP
//
// No clock is compared with another. A word carries an age, and with it the receiver's own time out of the receiver's last beacon and for how long the
// sender has held that. So the receiver finds, in its own time, when the sign of life was, at the latest: too early by the way of that
// beacon, never too late, however long the words were under way. A message that is delayed, repeated or overtaken says the same as one that
// isn't; one for an earlier process of the receiver, or from an earlier one of the sender, is dropped.
//
// # Goroutines and what is theirs
//
//	memberlist's     its sockets and its list; they call delegate.go, which takes a lock for a few instructions and never waits
//	gate (one)       inbound TCP connections before memberlist has them (transport.go)
//	joiner (one)     looks names up, joins whoever isn't there (join.go)
//	beacon (one)     sends beacons, compares digests, tells memberlist when we say something else of ourselves (beacon.go)
//	hearer (one)     calls Options.Heard (hear.go)
//	answerer (one)   answers asks (ask.go)
//	teller (each)    one for each peer that is there: its queue of words (tell.go)
//
// Group.mu guards the peers and all that is known of them. Nothing waits while it is held, and memberlist isn't called.
package peers
