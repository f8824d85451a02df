package fault_test

import (
	"context"
	"errors"
	"fmt"
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

// widths is an error of a protocol about data that do not go together.
type widths struct{}

func (*widths) Error() string        { return "south has 9 columns, north 30" }
func (*widths) Public() string       { return "south and north have different numbers of columns" }
func (*widths) Is(target error) bool { return target == protocol.ErrInput }

func TestReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("x"), "x"},
		{&fault.Error{Err: errors.New("rows.csv:3"), Public: "its data cannot be used"}, "its data cannot be used"},
		{&fault.Error{Err: errors.New("no such job")}, "no such job"},
		{fmt.Errorf("a: %w", &widths{}), "south and north have different numbers of columns"},
	} {
		if got := fault.Reason(c.err); got != c.want {
			t.Errorf("%v: peers are told %q, want %q", c.err, got, c.want)
		}
	}
}
