package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/invitation"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/transport/nats"
)

// Enrolment is a home that uses an invitation to become a member.
type Enrolment struct {
	Home   Home
	Token  invitation.Token
	Member roster.Member // the home's own name and keys

	config *Config
	id     *identity.Identity
	claim  []byte
}

// Enrol prepares a home to use an invitation. If the folder has no identity, it makes the home of a party,
// with an identity from the seed. Otherwise the home must have the name and the address of the invitation.
func (h Home) Enrol(jobs *job.Reader, t invitation.Token, seed [32]byte) (*Enrolment, error) {
	if !time.Now().Before(t.Expires) {
		return nil, fault.BadInputf("the invitation of %s expired at %s; ask for a new one", t.Name, t.Expires.Format(time.DateTime+" UTC"))
	}
	if _, err := os.Stat(h.IdentityPath()); errors.Is(err, fs.ErrNotExist) {
		if _, err := h.Create(jobs, &Config{Name: t.Name, Coordinator: t.Address}, roster.Party, seed); err != nil {
			return nil, err
		}
	}
	id, c, err := h.open(jobs)
	if err != nil {
		return nil, err
	}
	if c.Name != t.Name || c.Coordinator != t.Address {
		return nil, fault.BadInputf("%s is the home of %s with coordinator %s, and the invitation is for %s with coordinator %s; choose another --home, or change %s", h, c.Name, c.Coordinator, t.Name, t.Address, h.ConfigPath())
	}
	e := &Enrolment{Home: h, Token: t, Member: roster.Member{Name: c.Name, Role: roster.Party, Public: id.Public()}, config: c, id: id}
	key, err := guestKey(t.Secret())
	if err == nil {
		e.claim, err = invitation.Sign(id, e.Member, key)
	}
	return e, err
}

// Ask claims the invitation. It returns the roster once the coordinator's operator has approved the claim,
// and nil before.
func (e *Enrolment) Ask(ctx context.Context) (*roster.Roster, error) {
	at, err := nats.ParseAddress(e.Token.Address)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	proxy, _, err := e.config.proxy(at)
	if err != nil {
		return nil, err
	}
	key, err := nats.GuestKey(e.Token.Secret())
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	b, err := nats.AskAsGuest(ctx, e.Token.Address, e.Token.Name, key, nats.Options{TLS: e.Token.TLS, Proxy: proxy}, e.claim)
	var unknown *nats.GuestError
	if errors.As(err, &unknown) {
		return nil, fault.Forbidden(err)
	}
	if err != nil {
		return nil, err
	}
	return e.heard(b)
}

// askLimit bounds the time of one claim.
const askLimit = 15 * time.Second

// heard checks the coordinator's answer.
func (e *Enrolment) heard(b []byte) (*roster.Roster, error) {
	a, err := invitation.DecodeAnswer(b)
	switch {
	case err != nil:
		return nil, err
	case a.State == invitation.Refused:
		return nil, fault.Forbiddenf("%s refuses the invitation: %s", e.Token.Coordinator, fault.Printable(a.Reason))
	case a.State == invitation.Pending:
		return nil, nil
	}
	r, err := roster.Parse(a.Roster)
	if err != nil {
		return nil, fmt.Errorf("the roster that %s sends: %w", e.Token.Coordinator, err)
	}
	boss := r.Coordinator()
	if r.Federation != e.Token.Federation || boss.Name != e.Token.Coordinator || boss.Fingerprint() != e.Token.Fingerprint {
		return nil, fault.Forbiddenf("the roster that %s sends has another federation or coordinator than the invitation; tell the operator who sent the invitation", e.Token.Coordinator)
	}
	return r, e.Home.isIn(r, e.config, e.id)
}
