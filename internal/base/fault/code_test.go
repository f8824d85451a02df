package fault_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/protocol"
)

func TestCodeOf(t *testing.T) {
	tests := []struct {
		err  error
		want fault.Code
	}{
		{nil, fault.CodeDone},
		{errors.New("x"), fault.CodeFailed},
		{fmt.Errorf("a: %w", fault.BadInput(errors.New("x"))), fault.CodeBadInput},
		{fault.Forbidden(errors.New("x")), fault.CodePolicy},
		{protocol.Blame("south", protocol.KindMalformed, errors.New("x")), fault.CodeMisbehaved},
		{protocol.Blame("south", protocol.KindAborted, errors.New("x")), fault.CodeFailed},
		{protocol.Blame(protocol.Transport, protocol.KindTransport, errors.New("x")), fault.CodeFailed},
		{fmt.Errorf("stage scale: %w", &widths{}), fault.CodeBadInput},
		{protocol.Blame("south", protocol.KindSilent, errors.New("x")), fault.CodeTimedOut},
		{fmt.Errorf("a: %w", context.DeadlineExceeded), fault.CodeTimedOut},
	}
	for _, tt := range tests {
		if got := fault.CodeOf(tt.err); got != tt.want {
			t.Errorf("CodeOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
	}
}

// widths is an error of a protocol about contradictory data.
type widths struct{}

func (*widths) Error() string        { return "south has 9 columns, north 30" }
func (*widths) Public() string       { return "south and north have different numbers of columns" }
func (*widths) Is(target error) bool { return target == protocol.ErrInput }

// Peers read the public part of an error, wherever it is in the chain, and otherwise the
// error's kind.
func TestNotice(t *testing.T) {
	cell := errors.New("rows.csv:3: age holds 3.1415926e200")
	for _, c := range []struct {
		err  error
		want fault.Notice
	}{
		{nil, fault.Notice{}},
		{cell, fault.Notice{Code: fault.CodeFailed, Trouble: fault.Unsaid}},
		{fault.BadInput(cell), fault.Notice{Code: fault.CodeBadInput, Trouble: fault.Data}},
		{fault.Forbidden(cell), fault.Notice{Code: fault.CodePolicy, Trouble: fault.Refused}},
		{context.DeadlineExceeded, fault.Notice{Code: fault.CodeTimedOut, Trouble: fault.Late}},
		{fault.Magnitude.Of(cell), fault.Notice{Code: fault.CodeBadInput, Trouble: fault.Magnitude}},
		{fmt.Errorf("okra: %w", fault.OfNumber(math.Inf(1)).Of(cell)), fault.Notice{Code: fault.CodeBadInput, Trouble: fault.NotFinite}},
		{fault.BadInput(fault.Labels.Of(cell)), fault.Notice{Code: fault.CodeBadInput, Trouble: fault.Labels}},
		{fault.Disk.Of(fault.Public(cell)), fault.Notice{Code: fault.CodeFailed, Trouble: fault.Disk}},
		{errors.Join(cell, fault.Disk.Of(cell)), fault.Notice{Code: fault.CodeFailed, Trouble: fault.Disk}},
		{fault.Forbiddenf("kernel %q is not allowed", "rbf"), fault.Notice{Code: fault.CodePolicy, Text: `kernel "rbf" is not allowed`}},
		{fmt.Errorf("%w: %w", cell, fault.Publicf("16 jobs are open")), fault.Notice{Code: fault.CodeFailed, Text: "16 jobs are open"}},
		{fmt.Errorf("a: %w", &widths{}), fault.Notice{Code: fault.CodeBadInput, Text: "south and north have different numbers of columns"}},
		{protocol.Blame("south", protocol.KindMalformed, cell), fault.Notice{Code: fault.CodeMisbehaved, Text: "south (malformed): it sent a message that cannot be read"}},
		{protocol.Header{Sender: "south", Protocol: "psi"}.Inconsistent("%w", cell), fault.Notice{Code: fault.CodeMisbehaved, Text: "south (inconsistent): it contradicts what was agreed"}},
		{protocol.Header{Sender: "south", Protocol: "psi", Kind: "Set"}.Unexpected(), fault.Notice{Code: fault.CodeMisbehaved, Text: "south (unexpected): psi: message Set of round 0 is not expected from south"}},
		{fmt.Errorf("%w; what it had sent was refused: %w", protocol.Blame("south", protocol.KindSilent, errors.New("its set did not come")), cell),
			fault.Notice{Code: fault.CodeTimedOut, Text: "south (silent): its set did not come"}},
	} {
		if got := fault.NoticeOf(c.err); got != c.want {
			t.Errorf("%v: peers are told %+v, want %+v", c.err, got, c.want)
		}
	}
}

// Each trouble has its own sentence and one exit code.
func TestTroubles(t *testing.T) {
	known := make(map[string]fault.Trouble)
	for trouble := fault.Unsaid; trouble.Known(); trouble++ {
		said := trouble.Sentence()
		if other, taken := known[said]; said == "" || taken {
			t.Errorf("trouble %d says %q, as trouble %d", trouble, said, other)
		}
		known[said] = trouble
		if c := fault.CodeOf(trouble.Errorf("x")); c == fault.CodeDone || !c.Known() {
			t.Errorf("trouble %d has code %d", trouble, c)
		}
	}
}
