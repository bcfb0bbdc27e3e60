package namesrv

import (
	"fmt"
	"math"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

func TestBudgetsFollowTheMemoryLimit(t *testing.T) {
	none := budgets{input: mostInput, output: mostOutput, writes: mostWrites, framePool: mostFramePool, handshakes: mostHandshakes}
	for _, tt := range []struct {
		limit int64
		want  budgets
	}{
		{0, none},
		{math.MaxInt64, none},
		{1 << 40, budgets{limit: 1 << 40, input: mostInput, output: mostOutput, writes: mostWrites, framePool: mostFramePool, handshakes: mostHandshakes}},
		{256 << 20, budgets{limit: 256 << 20, input: 32 << 20, output: 32 << 20, writes: 32 << 20, framePool: 16 << 20, handshakes: 240}},
		{32 << 20, budgets{limit: 32 << 20, input: 8 << 20, output: 8 << 20, writes: 8 << 20, framePool: 2 << 20, handshakes: 30}},
		{1, budgets{limit: 1, input: 8 << 20, output: 8 << 20, writes: 8 << 20, framePool: 2 << 20, handshakes: 16}},
	} {
		if got := planBudgets(&settings.Settings{}, tt.limit); got != tt.want {
			t.Errorf("limit %d: %+v, want %+v", tt.limit, got, tt.want)
		}
	}
	c := &settings.Settings{InputBudgetBytes: 3 << 20, OutputBudgetBytes: 4 << 30, WriteBudgetBytes: 5 << 20}
	if b := planBudgets(c, 256<<20); b.input != 3<<20 || b.output != 4<<30 || b.writes != 5<<20 {
		t.Errorf("as set: %+v", b)
	}
}

// TestBudgetsFitTheLimit: with the memory that they stand for they leave a quarter of it.
func TestBudgetsFitTheLimit(t *testing.T) {
	for limit := int64(64 << 20); limit < 64<<30; limit *= 2 {
		b := planBudgets(&settings.Settings{}, limit)
		all := 2*b.input + 2*b.output + b.writes + int64(b.framePool) + int64(b.handshakes)*handshakeBytes
		if all > limit*3/4 {
			t.Errorf("limit %d MiB: %d MiB of budgets", limit>>20, all>>20)
		}
	}
}

// TestBudgetsAreInForce: what is planned is what connections and write lane keep to, and what the log says.
func TestBudgetsAreInForce(t *testing.T) {
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	s := newTestServer(t, t.TempDir(), Options{Settings: c, MemoryLimit: 128 << 20})
	b := planBudgets(c, 128<<20)
	o := s.netOptions(c)
	if o.MaxHeldBytes != b.input || o.MaxUnsentBytes != b.output || s.maxWriteBytes != b.writes || o.FramePoolBytes != b.framePool || o.MaxHandshakes != b.handshakes {
		t.Errorf("%+v and %d, want %+v", o, s.maxWriteBytes, b)
	}
	s.tellBudgets()
	if got := s.logs.with(fmt.Sprintf("limit=%d input=%d output=%d writes=%d", 128<<20, 16<<20, 16<<20, 16<<20)); len(got) != 1 {
		t.Errorf("not told: %v", got)
	}
}
