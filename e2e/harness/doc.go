// Package harness starts the real peers of a nameserver on loopback ports and looks at them from outside: Apache's
// nameserver, brokers, proxy, admin tool and Java clients, clients in other languages, and Waymark itself as a process.
//
// It uses no package of the product, so a fault of the product can't hide in the instrument. Functions return errors;
// what a failure means is the test's business. Everything started is ended by its process, never by name.
package harness
