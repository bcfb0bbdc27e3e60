// Package settings holds the nameserver's configuration: Apache's keys under
// Apache's names and defaults, and a few of our own.
//
// A *Settings is immutable once made: whoever changes something copies the
// struct first, so that a pointer to it may be read from any goroutine and one
// pointer is one truth. One table (keys.go) drives parsing, range checks, the
// answer to GET_NAMESRV_CONFIG and the list of keys in SETTINGS.md.
//
// What differs from Apache, which ignores what it cannot read: blanks around a
// value do not spoil it, and a value of a known key that has the wrong type,
// is out of range or holds control characters is refused, at start and in
// UPDATE_NAMESRV_CONFIG. Apache writes values unescaped, so that a value with
// \n in it becomes a second key at the next start; here a value is one line,
// on disk and in answers.
//
// Source: Apache RocketMQ 5.5.0, the fields of NamesrvConfig, NettyServerConfig
// and NettyClientConfig, and the answers of a running server.
package settings
