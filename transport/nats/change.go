package nats

import (
	"context"
	"fmt"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
)

// Change replaces the members of a running server. Members that stay keep their connections and their
// queues; a message of theirs that is under way can be sent again. A member that is added can connect when
// Change returns. The connections of a member that is removed, or that has another key, are closed at
// once, and the messages for a removed member are deleted. A message that such a connection has under way
// at that moment can still arrive; receivers refuse it by its signature. After an error the server has the former
// members, unless the error is a [*LeftoverError]. The guests are replaced in the same way.
func (s *Server) Change(ctx context.Context, members, guests []Member) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	now := *s.inForce.Load()
	next := now
	next.Members, next.Guests = slices.Clone(members), slices.Clone(guests)
	if err := next.validate(); err != nil {
		return err
	}
	added, removed := without(next.Members, now.Members), without(now.Members, next.Members)
	if err := s.makeRoom(ctx, now, added); err != nil {
		return fmt.Errorf("nats: %w", err)
	}
	if err := s.reload(next, added, without(next.Guests, now.Guests)); err != nil {
		s.closePosts(added)
		return fmt.Errorf("nats: cannot change the members: %w", err)
	}
	s.inForce.Store(&next)
	s.gate.admit(next.gateConnections())
	s.closePosts(removed)
	if len(removed) == 0 {
		return nil
	}
	rest := next
	rest.keepShares = true
	if err := s.arrange(ctx, rest); err != nil {
		return &LeftoverError{err}
	}
	return nil
}

// LeftoverError reports that the members have changed, but that the queues of removed members could not be
// deleted. Nobody reads or writes these queues, and the server's next start deletes them.
type LeftoverError struct{ Err error }

func (e *LeftoverError) Error() string {
	return fmt.Sprintf("nats: the queues of removed members remain until the next start: %v", e.Err)
}

func (e *LeftoverError) Unwrap() error { return e.Err }

// without returns the members of list whose names are not in other.
func without(list, other []Member) []Member {
	return slices.DeleteFunc(slices.Clone(list), func(m Member) bool {
		return slices.ContainsFunc(other, func(o Member) bool { return o.Name == m.Name })
	})
}

// makeRoom creates the queues and the posts of members that are about to be added.
func (s *Server) makeRoom(ctx context.Context, now Config, added []Member) error {
	if len(added) == 0 {
		return nil
	}
	all := now
	all.keepShares = true
	all.Members = slices.Concat(now.Members, added)
	if err := s.arrange(ctx, all); err != nil {
		return err
	}
	return s.openPosts(all, added)
}

// reload makes the NATS server accept the members of next, and no others. The server subscribes to an
// account's imports only at its start and for accounts that exist before the reload. So the accounts of
// added members are registered first; otherwise these members could connect and not send.
func (s *Server) reload(next Config, added, guests []Member) error {
	hub, err := storingHub()
	if err != nil {
		return err
	}
	opts, err := s.options(next, hub)
	if err != nil {
		return err
	}
	for _, m := range added {
		s.nats.LookupOrRegisterAccount(accountName(m.Name))
	}
	for _, g := range guests {
		s.nats.LookupOrRegisterAccount(guestAccount(g.Name))
	}
	return s.nats.ReloadOptions(opts)
}

// storingHub returns the hub's account for a reload. It says that the account has a store, because a
// reload closes the stores of all other accounts.
func storingHub() (*server.Account, error) {
	var o server.Options
	if err := o.ProcessConfigString("accounts { " + hubName + ": {jetstream: enabled} }"); err != nil {
		return nil, fmt.Errorf("cannot create the account of the queues: %w", err)
	}
	return o.Accounts[0], nil
}
