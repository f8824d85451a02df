package daemon

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/invitation"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/transport/nats"
)

// Invitations returns the folder of a coordinator's open invitations.
func (h Home) Invitations() invitation.Folder { return invitation.Folder(h.path("invitations")) }

// openInvitation is an invitation that a newcomer can use.
type openInvitation struct {
	invitation.Invitation
	// deadline is the end of the invitation by the monotonic clock of this process, which nobody can set
	// back.
	deadline time.Time
}

// opened returns invitations by name. An invitation that was open before keeps its deadline.
func opened(list []invitation.Invitation, before map[string]openInvitation, now time.Time) map[string]openInvitation {
	open := make(map[string]openInvitation, len(list))
	for _, i := range list {
		one := openInvitation{i, now.Add(i.Expires.Sub(now))}
		if was, is := before[i.Name]; is && was.Key == i.Key {
			one.deadline = was.deadline
		}
		open[i.Name] = one
	}
	return open
}

func (o openInvitation) over(now time.Time) bool { return o.Over(now) || !now.Before(o.deadline) }

// anyOver reports whether an open invitation has expired.
func (m *membership) anyOver() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.open {
		if i.over(time.Now()) {
			return true
		}
	}
	return false
}

// answer answers the claim of a guest. It quotes only the guest's own words and names of this federation.
func (m *membership) answer(guest string, request []byte) []byte {
	a, err := m.hear(guest, request, time.Now())
	if err != nil {
		if n, tell := m.complaints.Count("", guest); tell {
			m.log.Warn("refused the claim of an invitation", "name", guest, "so far", n, "error", err)
		}
		a = invitation.Answer{State: invitation.Refused, Reason: fault.NoticeOf(err).Sentence()}
	}
	return a.Encode()
}

// hear records the claim of a guest and answers that it is pending. If the roster has the guest already, with the same
// keys, hear answers with the roster.
func (m *membership) hear(guest string, request []byte, now time.Time) (invitation.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, is := m.open[guest]
	if !is || i.over(now) {
		return invitation.Answer{}, fault.Publicf("the invitation of %s has expired; ask for a new one", guest)
	}
	member, err := invitation.OpenClaim(request, i.Key)
	if err != nil {
		return invitation.Answer{}, fault.Public(err)
	}
	if member.Name != guest || member.Role != roster.Party {
		return invitation.Answer{}, fault.Publicf("the invitation is for a party called %s, but the claim is by the %s %s", guest, member.Role, member.Name)
	}
	if known, is := m.members.Lookup(guest); is && known.Fingerprint() == member.Fingerprint() {
		return m.approved()
	} else if is {
		return invitation.Answer{}, fault.Publicf("the federation has a member called %s with other keys; ask for an invitation under another name", guest)
	}
	if err := m.members.With(member).Validate(); err != nil {
		return invitation.Answer{}, fault.Publicf("the keys belong to another member; make a new identity")
	}
	return invitation.Answer{State: invitation.Pending}, m.claim(i, member)
}

// approved returns the answer to a newcomer whom the roster lists.
func (m *membership) approved() (invitation.Answer, error) {
	file, err := m.members.Marshal()
	if err == nil && len(file) > invitation.MaxRoster {
		err = fault.Publicf("the roster has %d members, too many to be sent here; ask the coordinator's operator for the file", len(m.members.Members))
	}
	return invitation.Answer{State: invitation.Approved, Roster: file}, err
}

// claim records that a newcomer claims an invitation.
func (m *membership) claim(i openInvitation, member roster.Member) error {
	_, before := i.Claimant()
	claimed, err := m.home.Invitations().Claim(i.Invitation, member)
	if errors.Is(err, invitation.ErrClaimed) {
		return fault.Public(err)
	}
	if err != nil {
		return err
	}
	i.Invitation = claimed
	m.open[i.Name] = i
	if !before {
		f := member.Fingerprint()
		m.log.Info("a newcomer has used its invitation; compare its fingerprint with its operator, then use mercer federation approve "+i.Name,
			"name", i.Name, "fingerprint", f.String(), "words", f.Words())
	}
	return nil
}

// Invite makes an invitation of a party with the given name, which reaches the coordinator at the given address. The
// invitation replaces an earlier one of this name. The daemon accepts it after a reload.
func (h Home) Invite(jobs *job.Reader, name, address string, life time.Duration) (invitation.Token, error) {
	none := invitation.Token{}
	_, c, members, err := h.openJoined(jobs)
	if err != nil {
		return none, err
	}
	boss := members.Coordinator()
	if err := mayInvite(members, c, name, life); err != nil {
		return none, fault.BadInput(err)
	}
	if address, err = c.publicAddress(address, len(boss.TLS) > 0); err != nil {
		return none, fault.BadInput(err)
	}
	var secret [invitation.SecretSize]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return none, fmt.Errorf("daemon: %w", err)
	}
	key, err := guestKey(secret)
	if err != nil {
		return none, err
	}
	now := time.Now().UTC()
	i := invitation.Invitation{Name: name, Key: key, Created: now, Expires: now.Add(life).Truncate(time.Second)}
	if err := h.Invitations().Put(i); err != nil {
		return none, err
	}
	return invitation.NewToken(invitation.Token{
		Federation: members.Federation, Coordinator: boss.Name, Address: address, Fingerprint: boss.Fingerprint(), TLS: boss.TLS, Name: name, Expires: i.Expires,
	}, secret), nil
}

// guestKey returns the public key of an invitation's secret.
func guestKey(secret [invitation.SecretSize]byte) (string, error) {
	key, err := nats.GuestKey(secret)
	if err != nil {
		return "", fmt.Errorf("daemon: %w", err)
	}
	return key.PublicKey()
}

// mayInvite returns an error unless the home with this configuration can invite a party with this name.
func mayInvite(members *roster.Roster, c *Config, name string, life time.Duration) error {
	if err := roster.CheckName(name); err != nil {
		return err
	}
	_, is := members.Lookup(name)
	switch {
	case members.Coordinator().Name != c.Name:
		return fmt.Errorf("%s is a party of this federation; use the home of its coordinator, %s, to invite", c.Name, members.Coordinator().Name)
	case is:
		return fmt.Errorf("%s is a member already; choose another name, or revoke the member first", name)
	case name == reservedName:
		return fmt.Errorf("a party cannot be called %q; choose another name", name)
	case life < time.Minute || life > invitation.LongestLife:
		return fmt.Errorf("the invitation would expire after %v; give a time from 1m to %v with --expires", life, invitation.LongestLife)
	}
	return nil
}

// publicAddress returns the address at which parties reach the coordinator. By default it is the address of
// the configuration, if that names a host.
func (c *Config) publicAddress(given string, secure bool) (string, error) {
	if given == "" {
		host, port, err := splitAddress(c.Listen)
		if err != nil {
			return "", err
		}
		if host == "0.0.0.0" || host == "::" || port == 0 {
			return "", fmt.Errorf("the coordinator listens on %s, which is no address that others can call; give --address, such as nats://coordinator.example:4222 or wss://coordinator.example:443", c.Listen)
		}
		given = fmt.Sprintf("nats://%s:%d", host, port)
	}
	at, err := nats.ParseAddress(given)
	if err == nil && at.NeedsTLS() && !secure {
		err = fmt.Errorf("the connection to %s requires TLS, but the roster has no TLS key of the coordinator; add it with mercer federation tls", given)
	}
	return given, err
}

// ApproveNewcomer adds the party that has claimed an invitation to the home's roster, and approves the new
// roster. The operator has compared the given fingerprint.
func (h Home) ApproveNewcomer(jobs *job.Reader, name string, compared identity.Fingerprint) (next *roster.Roster, err error) {
	m, err := h.Newcomer(name)
	if err != nil {
		return nil, err
	}
	if m.Fingerprint() != compared {
		return nil, fault.BadInputf("another process has claimed the invitation of %s meanwhile; compare its fingerprint", name)
	}
	now, lock, err := h.lockMembers(jobs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	next = now.With(m)
	if err := next.Validate(); err != nil {
		return nil, fault.BadInput(err)
	}
	return next, h.Join(jobs, next)
}

// Newcomer returns the party that has claimed the invitation of the given name.
func (h Home) Newcomer(name string) (roster.Member, error) {
	list, err := h.Invitations().List(time.Now())
	if err != nil {
		return roster.Member{}, fault.BadInput(err)
	}
	for _, i := range list {
		if i.Name != name {
			continue
		}
		if m, is := i.Claimant(); is {
			return m, nil
		}
		return roster.Member{}, fault.BadInputf("%s has not used its invitation yet; it does so with mercer federation join", name)
	}
	return roster.Member{}, fault.BadInputf("no invitation of %s is open in %s; make one with mercer federation invite %s --home %s", name, h, name, h)
}

// Revoke removes a party from the home's roster, and approves the new roster alone: an earlier file that comes
// back does not bring the party back. The home's daemon refuses the party after a reload. If Revoke returns a
// roster beside an error, the roster is approved, and what is left over of the party could not be removed.
func (h Home) Revoke(jobs *job.Reader, name string) (next *roster.Roster, err error) {
	now, lock, err := h.lockMembers(jobs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	m, is := now.Lookup(name)
	switch {
	case !is:
		return nil, fault.BadInputf("%s is not in the roster %s", name, h.RosterPath())
	case m.Role == roster.Coordinator:
		return nil, fault.BadInputf("%s is the coordinator and cannot be revoked, because a federation needs its coordinator", name)
	}
	next = now.Without(name)
	if err := h.Join(jobs, next); err != nil { // refuses a roster without this home's own member
		return nil, err
	}
	return next, errors.Join(h.approvals().KeepOnly(next.Hash()), h.Invitations().Remove(name))
}

// lockMembers returns the roster that the home has approved, and takes a lock. Another command that changes the roster
// waits for the lock; otherwise one of two changes at the same time would be lost.
func (h Home) lockMembers(jobs *job.Reader) (*roster.Roster, *os.File, error) {
	id, c, err := h.open(jobs)
	if err != nil {
		return nil, nil, err
	}
	lock, err := disk.WaitLock(h.path("roster.lock"))
	if err != nil {
		return nil, nil, err
	}
	now, err := h.readMembers(c, id)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	return now, lock, nil
}

// RosterHash returns the hash by which operators compare rosters.
func RosterHash(r *roster.Roster) string {
	hash := r.Hash()
	return hex.EncodeToString(hash[:])
}
