package journal

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/protocol"
)

// Record is one entry of the log: an accepted event with what its step did, or
// a marker. Exactly one of Event, Delivered and Ended is set.
type Record struct {
	Event  protocol.Event
	Sent   [][32]byte // digests of the messages that the step sent, in order
	Claims []string   // once-for-ever names that the step asked for

	Delivered int    // that many more messages have reached the broker
	Ended     string // how the session ended
}

// Bounds on one record. A longer Ended is cut off; anything else over its
// bound is refused by Append.
const (
	MaxSent         = protocol.MaxMembers
	MaxClaims       = 4096
	MaxClaimBytes   = 256
	MaxOutcomeBytes = 4096
	maxTimerBytes   = 256
	// inlineBytes is the largest body kept in the log itself.
	inlineBytes = 64 << 10
	// maxRecordBytes bounds what a reader allocates for one record.
	maxRecordBytes = 4 << 20
)

func (r Record) validate() error {
	switch {
	case r.Event != nil && r.Delivered == 0 && r.Ended == "":
		return r.validateEvent()
	case r.Sent != nil || r.Claims != nil:
		return errors.New("journal: only an event sends or claims")
	case r.Event == nil && r.Delivered == 0 && r.Ended != "":
		return nil
	case r.Event == nil && r.Ended == "" && 0 < r.Delivered && r.Delivered <= math.MaxInt32:
		return nil
	}
	return errors.New("journal: a record is an event, a count of deliveries or an outcome")
}

func (r Record) validateEvent() error {
	if len(r.Sent) > MaxSent || len(r.Claims) > MaxClaims {
		return fmt.Errorf("journal: %d messages and %d claims in one step, at most %d and %d", len(r.Sent), len(r.Claims), MaxSent, MaxClaims)
	}
	for _, name := range r.Claims {
		if err := validClaim(name); err != nil {
			return err
		}
	}
	switch e := r.Event.(type) {
	case protocol.Start, protocol.Resumed:
		return nil
	case protocol.Expired:
		if len(e.Timer) > maxTimerBytes {
			return fmt.Errorf("journal: a timer's name of %d bytes, at most %d", len(e.Timer), maxTimerBytes)
		}
		return nil
	case protocol.Received:
		return validMessage(e.Message)
	}
	return fmt.Errorf("journal: an event of unknown type %T", r.Event)
}

func validMessage(m protocol.Message) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if len(m.Body) > protocol.MaxChunkBytes {
		return fmt.Errorf("journal: a body of %d bytes, at most %d", len(m.Body), protocol.MaxChunkBytes)
	}
	return nil
}

func validClaim(name string) error {
	if name == "" || len(name) > MaxClaimBytes {
		return fmt.Errorf("journal: a claimed name of %d bytes, want 1 to %d", len(name), MaxClaimBytes)
	}
	return nil
}
