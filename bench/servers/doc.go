// Package servers starts the nameservers that are compared, each in a process of its own, and measures what that process
// costs: CPU time by its own clock, memory from /proc.
package servers
