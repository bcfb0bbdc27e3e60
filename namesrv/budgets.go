package namesrv

import (
	"cmp"
	"math"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// budgets bound what peers can make the server hold at a time. A setting of 0 follows the memory limit: an eighth of it for input, output
// and writes each, a sixteenth for the memory kept for large frames and for TLS handshakes each, and never more than without a limit. The
// memory of input and output is at most twice what is counted, so all of them together take three quarters of a limit; the rest
// is the table's and the process's own.
type budgets struct {
	limit      int64 // of the process's memory; 0: none is known
	input      int64 // received and not handled, bytes
	output     int64 // not taken by sockets
	writes     int64 // write requests that wait, decoded ones counted
	framePool  int   // kept for large frames
	handshakes int   // begun at a time
}

const (
	mostInput      = 1 << 30
	mostOutput     = 256 << 20
	mostWrites     = 256 << 20
	mostFramePool  = 24 << 20
	mostHandshakes = 1024

	leastBudget     = 8 << 20 // below a limit of 64 MiB; a broker's frame has to fit
	leastFramePool  = 2 << 20
	leastHandshakes = 16

	// handshakeBytes are one's that has begun, and those of the four that may wait for each.
	handshakeBytes = (28 + 4*10) << 10
)

// planBudgets makes the budgets of settings and a memory limit; math.MaxInt64, as the runtime has it, and 0 mean none.
func planBudgets(c *settings.Settings, limit int64) budgets {
	b := budgets{limit: limit, input: mostInput, output: mostOutput, writes: mostWrites, framePool: mostFramePool, handshakes: mostHandshakes}
	if limit <= 0 || limit == math.MaxInt64 {
		b.limit = 0
	} else {
		share := max(limit/8, leastBudget)
		b.input, b.output, b.writes = min(b.input, share), min(b.output, share), min(b.writes, share)
		b.framePool = int(min(mostFramePool, max(limit/16, leastFramePool)))
		b.handshakes = int(min(mostHandshakes, max(limit/16/handshakeBytes, leastHandshakes)))
	}
	b.input = cmp.Or(c.InputBudgetBytes, b.input)
	b.output = cmp.Or(c.OutputBudgetBytes, b.output)
	b.writes = cmp.Or(c.WriteBudgetBytes, b.writes)
	return b
}

// tellBudgets says, at the start, what is in force.
func (s *Server) tellBudgets() {
	b := s.budgets
	var limit any = "none"
	if b.limit > 0 {
		limit = b.limit
	}
	s.logger.Info("memory budgets in bytes", "limit", limit, "input", b.input, "output", b.output, "writes", b.writes, "framePool", b.framePool, "handshakes", b.handshakes)
}
