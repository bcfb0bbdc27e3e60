// Package bench measures the nameserver from the bytes of a request to the bytes
// of its answer. What a single step costs is measured beside the step: headers and bodies
// in codec, tables and answers in core, the persistent map in core/cow, the wheel in core/wheel.
package bench
