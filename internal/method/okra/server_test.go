package okra

import (
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// ending is a machine that ends at once.
type ending struct {
	protocol.Machine
	err error
}

func (e ending) Step(protocol.Event) (protocol.Effects, error) {
	return protocol.Effects{End: &protocol.End{Err: e.err}}, nil
}

// Too many rows are the job's fault and not a failure of the coordinator's; other
// ends pass as they are.
func TestTooManyRowsAreTheJobsFault(t *testing.T) {
	end := func(err error) error {
		effects, failed := rowLimitErrors(ending{err: err}).Step(nil)
		if failed != nil {
			t.Fatal(failed)
		}
		return effects.End.Err
	}
	var coded *fault.Error
	if err := end(&okra.LimitError{}); !errors.As(err, &coded) || coded.Code != fault.CodeBadInput || !strings.Contains(err.Error(), "use protocol moments") {
		t.Errorf("too many rows: %v", err)
	}
	other := errors.New("another end")
	coded = nil
	if err := end(other); !errors.Is(err, other) || errors.As(err, &coded) || end(nil) != nil {
		t.Errorf("another end becomes %v", err)
	}
}
