package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func TestCodeOf(t *testing.T) {
	tests := []struct {
		err  error
		want Code
	}{
		{nil, CodeDone},
		{errors.New("x"), CodeFailed},
		{fmt.Errorf("a: %w", BadInput(errors.New("x"))), CodeBadInput},
		{Forbidden(errors.New("x")), CodePolicy},
		{protocol.Blame("south", protocol.KindMalformed, errors.New("x")), CodeMisbehaved},
		{protocol.Blame("south", protocol.KindAborted, errors.New("x")), CodeFailed},
		{protocol.Blame(protocol.Transport, protocol.KindTransport, errors.New("x")), CodeFailed},
		{fmt.Errorf("stage scale: %w", &widths{}), CodeBadInput},
		{protocol.Blame("south", protocol.KindSilent, errors.New("x")), CodeTimedOut},
		{fmt.Errorf("a: %w", context.DeadlineExceeded), CodeTimedOut},
	}
	for _, tt := range tests {
		if got := CodeOf(tt.err); got != tt.want {
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
		{&Error{Err: errors.New("rows.csv:3"), Public: "its data cannot be used"}, "its data cannot be used"},
		{&Error{Err: errors.New("no such job")}, "no such job"},
		{fmt.Errorf("a: %w", &widths{}), "south and north have different numbers of columns"},
	} {
		if got := Reason(c.err); got != c.want {
			t.Errorf("%v: peers are told %q, want %q", c.err, got, c.want)
		}
	}
}
