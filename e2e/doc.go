// Package e2e runs Apache RocketMQ's real broker, client and admin tool on Waymark, and on Apache's own nameserver as
// the control: the same script has to pass on both.
//
// The tests need the build tag e2e, Java (17 is known to work), and Maven on the first run, which fetches Apache's jars into a
// cache. Run them with "make e2e", or one of them with "make e2e RUN=TestMQAdmin". A missing toolchain skips them and says so;
// with CI=true it fails them. WAYMARK_BIN names a nameserver's program to test instead of the one in this module.
//
// Everything listens on 127.0.0.1, except for a broker's replication port and a 4.x broker, which can't be told to.
package e2e
