// Package fuzz holds the fuzz targets, one file each. What they have found is
// kept in testdata/fuzz/<target> and replayed by plain go test; seeds named
// after a peer are frames recorded from it. To search on:
//
//	go test ./fuzz -fuzz '^FuzzJSONHeader$' -fuzztime 60s
package fuzz
