package party

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
)

// ErrStalled ends [Party.Run] when a session cannot go on for a reason of this process or its
// disk. The session is still open: another Party on the same vault goes on with it.
var ErrStalled = errors.New("party: a session cannot go on here for now")

// tellTime bounds the time in which the coordinator must take in that this party cannot go on.
const tellTime = 5 * time.Second

// stall tells the coordinator that this party is what holds a session up, so that nobody else is
// blamed, and returns the error that ends Run.
func (p *Party) stall(ctx context.Context, f finished) error {
	why := fault.Unsaid
	if disk.Failed(f.err) {
		why = fault.Disk
	}
	p.Logger.Error("a session cannot go on here for now", "session", f.r.ID().String(), "error", f.err)
	if err := p.tellStall(ctx, f.r.ID(), why); err != nil {
		p.Logger.Warn("could not tell the coordinator so", "session", f.r.ID().String(), "error", err)
	}
	return fmt.Errorf("%w: %w", ErrStalled, f.err)
}

// postpone puts a proposal or a directory back that the disk had no room for, and tells the coordinator why it
// has no answer yet. It comes again until the coordinator gives up.
func (p *Party) postpone(ctx context.Context, id protocol.SessionID, why error) error {
	if err := p.tellStall(ctx, id, fault.Disk); err != nil {
		return errors.Join(notNow(why), err)
	}
	return notNow(why)
}

func (p *Party) tellStall(ctx context.Context, id protocol.SessionID, why fault.Trouble) error {
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	return p.tell(ctx, id, control.KindStall, (&control.Stall{Member: p.Name, Trouble: why}).Encode())
}

// stalled enters that another party of a session cannot go on for now, or goes on.
func (p *Party) stalled(m protocol.Message) error {
	s, err := control.DecodeStall(m.Body)
	r, known := p.sessions[m.Session]
	if err != nil || !known {
		return err
	}
	if r.session.Index(s.Member) < 0 {
		return fmt.Errorf("party: a stall of %q, who takes no part in the session", fault.Printable(s.Member))
	}
	if !r.stalls.Note(s, time.Now()) || s.Trouble == fault.NoTrouble {
		return nil
	}
	if n, tell := p.stalls.Count("", s.Member); tell {
		p.Logger.Warn("another party cannot go on with a session for now", "party", s.Member, "so far", n, "session", m.Session.String(), "reason", s.Trouble.Sentence())
	}
	return nil
}
