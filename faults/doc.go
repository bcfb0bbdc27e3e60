// Package faults tests what a process of its own must survive: being killed while
// it saves, files that are broken, signals, standing still, running out of
// descriptors, brokers that flap or go by the thousand, and several that lose
// sight of one another. It builds ./cmd/namesrv once (WAYMARK_BIN names a program to take
// instead; -short leaves out what measures sizes, for programs built with checks), runs it on loopback ports, or on hosts of a network
// of its own (namespaces), with a home of its own, and ends only processes that it started.
//
// The tests need the build tag faults and Linux; "make faults" runs them.
package faults
