// Package invariants holds the checks that are too dear for production: they
// run in builds with the tag invariants, and tests run with it too.
//
//	go test -tags invariants ./...
//
// Arguments of Check are evaluated in every build; put what is dear to compute
// under if invariants.Enabled.
package invariants
