// Package fleet plays the brokers of a load profile: they register their topic tables, send heartbeats, register again,
// change topics, end and come back, all at times that follow from the profile.
//
// A broker is one goroutine with one connection, as a real one has. It waits for each answer. What a registration
// carries is written once for all brokers that have the same topics and patched when it is sent.
package fleet
