// Package e2e runs real peers of a nameserver, Apache RocketMQ's brokers, Java clients, proxy and admin tool and clients in
// other languages, on Waymark, and on Apache's own nameserver as the control: the same script has to pass on both.
//
// The tests need the build tag e2e and, on the first run, the package clients that fetch the peers into a cache: Java (17 is
// known to work) with Maven, Go, Python 3 with venv and pip, Node with npm. Run them with "make e2e", or one of them with
// "make e2e RUN=TestMQAdmin". A missing tool skips its tests and says so; with CI=true it fails them. WAYMARK_BIN names a
// nameserver's program to test instead of the one in this module.
//
// A whole run prints the table of results and compares it with the one in COMPATIBILITY.md; the flag -update publishes it.
//
// Everything listens on 127.0.0.1, except for a broker's replication port, a 4.x broker and a proxy, which can't be told to.
package e2e
