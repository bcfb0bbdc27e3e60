// Package tlsconfig makes the server's TLS configuration of what Apache's nameserver reads it from: Java system properties
// (tls.server.mode and others) and the properties file that tls.config.file names. It watches the files with certificate, key
// and trusted certificates and takes new ones in while the server runs.
//
//	-Dtls.* words ─┐
//	               ├─ Read ── Properties ── Open ── Source ── Config: for each TLS hello
//	tls.properties ┘                                  ↑
//	                     certificate, key, trust ─ Start: looked at every 500 ms
//
// Source of names, defaults and order: Apache RocketMQ 5.5.0, TlsSystemConfig and TlsHelper.buildSslContext.
// Differs: a certificate or key that is missing, unreadable or doesn't match ends the start, where Apache's goes on
// without TLS or ends with a stack trace; a boolean or client authentication that is none of the known words does too, where
// Apache's takes it for false or none; a certificate that is renewed under its old key is taken in, where Apache's waits for
// both files to change.
package tlsconfig
