// Package clients puts the load of a profile's clients on a nameserver.
//
// A driver is one goroutine with its share of the connections: it waits for all of them at once (epoll), so that 18,000
// idle ones cost nothing and a busy one costs a read and a write for each batch. Requests are encoded beforehand. What is
// left is the kernel's work, which is the server's too: one driver keeps up with one event loop that does next to nothing.
//
// With a rate the loop is open: request k is due k/rate seconds after the beginning, whatever became of those
// before it, and its latency counts from then. A server that stands still for a second thus delays every request of that
// second, not only the one that was in flight. Without a rate each connection writes depth requests at once, waits for
// all answers, and goes on.
package clients
