package party

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/node/journal"
)

// maxAttempts bounds the sessions that a party begins for a thing that it gives once: all
// but the last have ended before it gave anything. Each shows the coordinator with whom
// this party's secrets would be shared, so that a coordinator who begins many sessions
// can choose among them (protocol/secagg).
const maxAttempts = 8

// attempt counts a session that begins among all sessions for equal claims; the count never expires.
func (p *Party) attempt(r *running) error {
	for _, name := range r.stage.Claims {
		if err := p.attemptOn(r, name); err != nil {
			return err
		}
	}
	return nil
}

func (p *Party) attemptOn(r *running, name string) error {
	for n := range maxAttempts {
		err := p.Vault.Claim(r.session.ID(), fmt.Sprintf("attempt/%d/%s", n+1, name))
		var held *journal.HeldError
		if !errors.As(err, &held) {
			return err
		}
	}
	return refuse("%d sessions for %s have begun here before, and it begins no more: each has shown the coordinator with whom this party would share its secrets", maxAttempts, r.stage.Purpose)
}
