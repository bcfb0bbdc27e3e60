// Package profiles holds the load profiles: one commented TOML file for each, which says whom it imitates, and the
// reader of such files.
//
// A file has the workload itself and may have
//
//   - [[variant]] tables: each is measured by itself and holds what differs from the workload above;
//   - a [smoke] table: what makes the profile run within a second or two; it is laid over every variant.
//
// An unknown key, a value out of range and a combination without meaning are errors that name the key.
package profiles
