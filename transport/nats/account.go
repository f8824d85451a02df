package nats

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
)

const hubName = "HUB" // the account that owns the stream

// isolate gives a member an account and a login. The account gets from the hub
// what the member needs and nothing more (see the package comment); the login's
// permissions, within that account, make a wrong name fail loudly instead of
// speaking into an empty room.
func isolate(hub *server.Account, m Member) (*server.Account, *server.NkeyUser, error) {
	own := server.NewAccount("member-" + m.Name)
	says := []string{subject(m.Name, "*"), askSubject(m.Name, ">"), resetSubject(m.Name), ackPrefix(m.Name) + ">"}
	hears := boxSubject(m.Name, ">")
	for _, s := range says {
		if err := lendService(hub, own, s); err != nil {
			return nil, nil, fmt.Errorf("account of %q: %w", m.Name, err)
		}
	}
	if err := lendStream(hub, own, hears); err != nil {
		return nil, nil, fmt.Errorf("account of %q: %w", m.Name, err)
	}
	// What never leaves the account: processes with one identity hear each other.
	twin := twinSubject(m.Name)
	login := &server.NkeyUser{Nkey: m.Key, Account: own, Permissions: &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: append(says, twin)},
		Subscribe: &server.SubjectPermission{Allow: []string{hears, twin, replyPrefix(m.Name) + ".>"}},
	}}
	return own, login, nil
}

// lendService makes a service of the hub available in one account only, and
// has its one answer go there.
func lendService(hub, to *server.Account, subject string) error {
	if err := hub.AddServiceExport(subject, []*server.Account{to}); err != nil {
		return fmt.Errorf("export %s: %w", subject, err)
	}
	if err := to.AddServiceImport(hub, subject, subject); err != nil {
		return fmt.Errorf("import %s: %w", subject, err)
	}
	return nil
}

// lendStream lets one account only hear what the hub says on a subject.
func lendStream(hub, to *server.Account, subject string) error {
	if err := hub.AddStreamExport(subject, []*server.Account{to}); err != nil {
		return fmt.Errorf("export %s: %w", subject, err)
	}
	if err := to.AddStreamImport(hub, subject, ""); err != nil {
		return fmt.Errorf("import %s: %w", subject, err)
	}
	return nil
}

// stewardLogin is for this process only.
func stewardLogin(hub *server.Account, key string) *server.NkeyUser {
	return &server.NkeyUser{Nkey: key, Account: hub, AllowedConnectionTypes: map[string]struct{}{"IN_PROCESS": {}}}
}
