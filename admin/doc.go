// Package admin is the HTTP side for people and their tools: metrics, probes, profiles, and what others mount.
//
//	GET  /metrics        Prometheus text (METRICS.md)
//	GET  /livez          200 while event loops and writer make progress
//	GET  /readyz         200 while serving; else 503, and the state as text
//	GET  /debug/pprof/   profiles, for peers on a loopback address only
//	GET  /api/v1/        Options.API
//	POST /drain          Options.Drain, for peers on a loopback address only; 202 if it begins one, 409 if not
//
// A server on a loopback address, and elsewhere drain and profiles, are asked by an address, localhost or the host of Options.Addr;
// by any other name a web page may have sent the request.
//
// It reads what the server counted and published and holds nothing up: each event loop copies its own counters when asked, and
// is not waited for beyond a deadline.
//
// Goroutines: net/http's, one for each connection, of which there are few (maxConns); they touch nothing of the server's but
// by its methods for any goroutine.
package admin
