// Package bench puts load profiles on nameservers and compares them, and measures this nameserver from the bytes of a request
// to the bytes of its answer. What a single step costs is measured beside the step: headers and bodies in codec, tables and
// answers in core, the persistent map in core/cow, the wheel in core/wheel.
//
// Run puts one workload on one server. A Comparison runs every variant of a profile on several servers in turn, several times, and
// its results become a Markdown table (Report) of medians and of the medians of paired ratios: servers are compared only within one
// run on one machine.
package bench
