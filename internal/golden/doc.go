// Package golden is a deliberately slow model of the nameserver's tables, for
// tests: plain maps, one command after the other, every answer built from
// nothing at each call. It shares no code with package core beyond the types of
// its commands, so that where the two agree neither is likely to be wrong.
//
// The rules are those of Apache RocketMQ 5.5.0 with this project's deviations;
// COMPATIBILITY.md lists them. Not safe for concurrent use.
package golden
