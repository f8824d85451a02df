package control

import (
	"errors"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Stall reports that a member cannot continue a session for now, for a reason of its own, such as a
// full disk. With [fault.NoTrouble] it reports that the member continues. The coordinator passes
// the report on to the other members. Otherwise these could blame another member, which only waits
// for the stalled one.
type Stall struct {
	Member  string
	Trouble fault.Trouble
}

// Encode returns the canonical encoding of the stall.
func (s *Stall) Encode() []byte {
	var w wire.Writer
	w.String(s.Member)
	w.Uint8(uint8(s.Trouble))
	return w.Bytes()
}

// DecodeStall decodes a stall that Encode has encoded.
func DecodeStall(b []byte) (*Stall, error) {
	r := wire.NewReader(b)
	s := &Stall{Member: r.String(protocol.MaxNameBytes), Trouble: readTrouble(r)}
	return s, r.Close("control: stall")
}

// Stalls records which members of one session cannot continue now, or could not before. The zero
// value is ready.
type Stalls struct{ of map[string]stalled }

type stalled struct {
	trouble fault.Trouble
	over    time.Time // time at which the stall ended; zero while the stall lasts
	changes int
}

// mostChanges bounds how many changes of one member's state are recorded in a session. The last of
// these changes says that the member cannot continue, and further changes are ignored.
const mostChanges = 16

// Note records a stall message, and reports whether it changes the member's state.
func (s *Stalls) Note(m *Stall, now time.Time) bool {
	last, known := s.of[m.Member]
	changes := last.changes + 1
	switch {
	case changes > mostChanges, changes == mostChanges && m.Trouble == fault.NoTrouble:
		return false
	case m.Trouble == fault.NoTrouble && (!known || !last.over.IsZero()):
		return false
	case m.Trouble == fault.NoTrouble:
		last.over = now
	case known && last.over.IsZero() && last.trouble == m.Trouble:
		return false
	default:
		last = stalled{trouble: m.Trouble}
	}
	if s.of == nil {
		s.of = make(map[string]stalled)
	}
	last.changes = changes
	s.of[m.Member] = last
	return true
}

// Has reports whether a member cannot continue now, with the given trouble.
func (s *Stalls) Has(member string, t fault.Trouble) bool {
	one, known := s.of[member]
	return known && one.over.IsZero() && one.trouble == t
}

// Explain replaces the error about a silent member if a stalled member may be the cause of the
// silence. A member counts as stalled if it cannot continue, or recently could not. A member that
// waits for another is silent through no fault of its own. Explain returns other errors unchanged.
// Stalls do not excuse the relay that reports them: the error still blames the relay, and adds the
// relay's report. The relay itself passes "" as the argument relay.
func (s *Stalls) Explain(err error, relay string, now time.Time, within time.Duration) error {
	first := s.first(now, within)
	if first == "" || fault.CodeOf(err) != fault.CodeTimedOut {
		return err
	}
	text := fmt.Sprintf("%s: %s", first, s.of[first].trouble.Sentence())
	var blame *protocol.BlameError
	if errors.As(err, &blame) && blame.Party == relay {
		own := fmt.Errorf("member %s: %w; it reported: %s", relay, blame.Err, text)
		return &fault.Error{Code: fault.CodeTimedOut, Blamed: relay, Err: own, Public: relay + " was silent; it reported: " + text}
	}
	code := fault.CodeFailed
	if s.of[first].trouble == fault.Approval { // nothing is wrong with the member
		code = fault.CodeTimedOut
	}
	return &fault.Error{Code: code, Blamed: first, Err: errors.New(text), Public: text}
}

// first returns the alphabetically first member that cannot continue, or recently could not.
func (s *Stalls) first(now time.Time, within time.Duration) string {
	first := ""
	for name, one := range s.of {
		if (one.over.IsZero() || now.Sub(one.over) < within) && (first == "" || name < first) {
			first = name
		}
	}
	return first
}
