package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// A guest is a stranger whom an operator has invited. It logs in by a key of its own, and can do one thing:
// send a request to the function Config.AnswerGuest, and receive the answer. Like a member it has an account of its
// own, from which it sees nothing else.

const (
	// MaxRequest is the largest length of a guest's request in bytes.
	MaxRequest         = 16 << 10
	guestConnections   = 2
	guestSubscriptions = 4
	maxGuestRequests   = 64 // most requests of all guests together that can wait
)

func guestAccount(guest string) string { return "guest-" + guest }
func guestSubject(guest string) string { return "mercer.guest." + guest }

// GuestKey returns the login of a guest that has a secret. The server knows only its public half.
func GuestKey(secret [32]byte) (nkeys.KeyPair, error) {
	return nkeys.FromRawSeed(nkeys.PrefixByteUser, secret[:])
}

// admitGuest returns a login by which a guest uses its own account.
func admitGuest(hub, own *server.Account, g Member) (*server.NkeyUser, error) {
	subject := guestSubject(g.Name)
	if err := lendService(hub, own, subject, subject); err != nil {
		return nil, fmt.Errorf("cannot set up the account of the guest %q: %w", g.Name, err)
	}
	return &server.NkeyUser{Nkey: g.Key, Account: own, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{subject}},
		Subscribe: &server.SubjectPermission{Allow: []string{replyPrefix(g.Name) + ".>"}},
	}}, nil
}

// answerGuests makes the steward answer guests, also those that [Server.Change] adds later.
func (s *Server) answerGuests() error {
	if s.cfg.AnswerGuest == nil {
		return nil
	}
	paces := make(map[string]*budget) // only this subscription's goroutine uses it
	sub, err := s.steward.Subscribe(guestSubject("*"), func(m *natsgo.Msg) {
		guest := strings.TrimPrefix(m.Subject, guestSubject(""))
		if paces[guest] == nil {
			paces[guest] = &budget{most: 20, every: time.Second}
		}
		if ok, _ := paces[guest].allow(time.Now()); !ok || m.Reply == "" {
			return
		}
		if err := m.Respond(s.cfg.AnswerGuest(guest, m.Data)); err != nil && !errors.Is(err, natsgo.ErrConnectionClosed) {
			s.cfg.Logger.Warn("cannot answer a guest", "guest", guest, "error", err)
		}
	})
	if err != nil {
		return err
	}
	return sub.SetPendingLimits(maxGuestRequests, maxGuestRequests*MaxRequest)
}

// GuestError reports that a server does not know a guest's key.
type GuestError struct{ Guest string }

func (e *GuestError) Error() string {
	return fmt.Sprintf("nats: the invitation of %q is not valid at the server: it has expired, or another one has replaced it, or it was withdrawn; ask for a new one", e.Guest)
}

// AskAsGuest sends a request as the guest of the given name to the server at url, and returns the answer.
func AskAsGuest(ctx context.Context, url, guest string, key nkeys.KeyPair, o Options, request []byte) ([]byte, error) {
	at, err := o.parse(url)
	if err != nil {
		return nil, err
	}
	pub, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	call := newCaller(at, o)
	defer call.hangUp()
	nc, err := natsgo.Connect(at.forClient(), natsgo.Nkey(pub, key.Sign), natsgo.CustomInboxPrefix(replyPrefix(guest)),
		natsgo.SetCustomDialer(call), natsgo.SkipHostLookup(), natsgo.IgnoreDiscoveredServers(), natsgo.NoReconnect(), natsgo.Timeout(proxiedLimit))
	switch {
	case errors.Is(err, natsgo.ErrAuthorization):
		return nil, &GuestError{guest}
	case err != nil && call.lastError() != nil:
		return nil, fmt.Errorf("nats: cannot connect to %s: %w", url, call.lastError())
	case err != nil:
		return nil, fmt.Errorf("nats: cannot connect to %s: %w", url, err)
	}
	defer nc.Close()
	answer, err := nc.RequestWithContext(ctx, guestSubject(guest), request)
	if err != nil {
		return nil, fmt.Errorf("nats: %s does not answer: %w", url, err)
	}
	return answer.Data, nil
}
