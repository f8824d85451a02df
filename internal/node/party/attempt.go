package party

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/node/journal"
)

// maxAttempts is how many sessions a party begins for what it gives once: all but one
// of them have ended before it gave anything. Each shows the coordinator with whom
// this party's secrets would be shared, so that who begins many chooses among them
// (protocol/secagg).
const maxAttempts = 8

// attempt counts a session that begins among those for the same claims, for ever.
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
