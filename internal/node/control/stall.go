package control

import (
	"errors"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Stall says that a member cannot go on with a session for a reason of its own, such as a full
// disk, and will when it can; or, with [fault.NoTrouble], that it goes on now. The coordinator
// passes it on to the others, who would otherwise blame whom they wait for.
type Stall struct {
	Member  string
	Trouble fault.Trouble
}

// Encode returns the canonical encoding.
func (s *Stall) Encode() []byte {
	var w wire.Writer
	w.String(s.Member)
	w.Uint8(uint8(s.Trouble))
	return w.Bytes()
}

// DecodeStall decodes what Encode wrote.
func DecodeStall(b []byte) (*Stall, error) {
	r := wire.NewReader(b)
	s := &Stall{Member: r.String(protocol.MaxNameBytes), Trouble: readTrouble(r)}
	return s, r.Close("control: stall")
}

// Stalls remembers the members of one session that could not go on. The zero value is ready.
type Stalls struct{ of map[string]stalled }

type stalled struct {
	trouble fault.Trouble
	over    time.Time // zero while it lasts
	changes int
}

// mostChanges bounds the news of one member in a session. The last is that it cannot go on, and
// so it stays.
const mostChanges = 16

// Note enters what a member of the session has said, and reports whether that is news.
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

// Explain replaces the error that somebody was silent if a member could not go on, or could not
// until less than within ago: who waited for it in vain is silent through no fault of its
// own. An error of another kind stays. Stalls do not excuse their relay, whose word they are: the
// error goes on blaming it, and adds its word. The relay itself passes "".
func (s *Stalls) Explain(err error, relay string, now time.Time, within time.Duration) error {
	first := s.first(now, within)
	if first == "" || fault.CodeOf(err) != fault.CodeTimedOut {
		return err
	}
	text := fmt.Sprintf("%s: %s", first, s.of[first].trouble.Sentence())
	var blame *protocol.BlameError
	if errors.As(err, &blame) && blame.Party == relay {
		own := fmt.Errorf("%s: %w; it says of %s", relay, blame.Err, text)
		return &fault.Error{Code: fault.CodeTimedOut, Blamed: relay, Err: own, Public: relay + " was silent; it says of " + text}
	}
	return &fault.Error{Code: fault.CodeFailed, Blamed: first, Err: errors.New(text), Public: text}
}

// first returns the first member by name that cannot go on, or could not a short time ago.
func (s *Stalls) first(now time.Time, within time.Duration) string {
	first := ""
	for name, one := range s.of {
		if (one.over.IsZero() || now.Sub(one.over) < within) && (first == "" || name < first) {
			first = name
		}
	}
	return first
}
