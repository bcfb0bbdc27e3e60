// Package wire is the load generator's side of the protocol: requests that are encoded once and sent many times, and
// a reader that takes of an answer what a load generator looks at.
package wire
