// Package archtest holds tests of the source itself: which package may import
// which, and what the core must not contain. rules_test.go has the table; a new
// package gets a line there.
//
// All Go files count, whatever their build tags, and nothing needs to compile;
// but compiled_test.go asks the compiler what it makes of the way of a query.
package archtest
