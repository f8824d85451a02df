package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/invitation"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// reloadDaemon makes the daemon of a home read its files again. It returns false if no daemon runs there.
func reloadDaemon(ctx context.Context, h daemon.Home) (running bool, err error) {
	c := admin.NewClient(h.Socket())
	defer c.Close()
	err = c.Reload(ctx)
	if errors.Is(err, admin.ErrNoDaemon) {
		return false, nil
	}
	return err == nil, err
}

// inForce tells the operator whether a daemon has a change in force.
func inForce(running bool) string {
	if running {
		return "the daemon of this home has it in force"
	}
	return "no daemon runs in this home; the next one begins with it"
}

// invitationResult describes a new invitation, without its secret.
type invitationResult struct {
	Name    string    `json:"name"`
	Address string    `json:"address"`
	Expires time.Time `json:"expires"`
	File    string    `json:"file"`
	Running bool      `json:"in_force"` // whether a daemon of the home accepts it
}

// Print tells the operator the next steps.
func (r invitationResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s: invitation of %s to %s, until %s", r.File, r.Name, r.Address, r.Expires.Format(time.DateTime+" UTC"))
	p.linef("send it by a way that nobody else reads; its operator runs mercer federation join %s", r.File)
	p.linef("then compare fingerprints by telephone, and run mercer federation approve %s", r.Name)
	p.linef("%s", inForce(r.Running))
	return p.err
}

func (a *app) federationInvite() *cobra.Command {
	var home, address, out string
	var life time.Duration
	cmd := &cobra.Command{
		Use:   "invite NAME",
		Short: "Make an invitation of a new party",
		Long: `Make an invitation for one party, which joins with it while the coordinator runs. The
invitation is a file with a secret: it works for one identity, expires, and is bound to
the name and to this coordinator's keys. Nobody is a member until you approve the
newcomer. A new invitation of a name replaces the former.`,
		Example: `  mercer federation invite west --home ./c --address nats://coordinator.example:4222
  mercer federation invite west --home ./c --address wss://coordinator.example:443 --expires 24h --out west.invitation`,
		Args: args("NAME"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			if out == "" {
				out = args[0] + ".invitation"
			}
			if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
				return nil, usage("%s exists already, and an invitation overwrites no file; choose another --out", out)
			}
			h := a.at(home)
			t, err := h.Invite(a.reader, args[0], address, life)
			if err != nil {
				return nil, err
			}
			if err := disk.Create(out, []byte(t.Encode()+"\n")); err != nil {
				return nil, errors.Join(err, h.Invitations().Remove(args[0]))
			}
			running, err := reloadDaemon(ctx, h)
			return invitationResult{t.Name, t.Address, t.Expires, out, running}, err
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&address, "address", "", "address at which the newcomer reaches this coordinator, nats://host:port, tls://host:port or wss://host:port; default listen of the configuration")
	cmd.Flags().DurationVar(&life, "expires", 72*time.Hour, "time for which the invitation is valid, 1m to 720h")
	cmd.Flags().StringVar(&out, "out", "", "file to write; default NAME.invitation")
	return cmd
}

// maxInvitation is the largest number of bytes that are read of an invitation.
const maxInvitation = 4096

// readInvitation returns the text of an invitation at a path, or of stdin for "-". For another file it
// returns "".
func (a *app) readInvitation(path string) (string, error) {
	if strings.HasPrefix(path, invitation.Prefix) {
		return "", usage("other users of this machine can read an invitation in a command line; write it into a file and give the path, or give - and paste it")
	}
	if path == "-" {
		b, err := io.ReadAll(io.LimitReader(a.stdin, maxInvitation))
		return string(b), err
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", usage("%w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(f, maxInvitation))
	if text := strings.TrimSpace(string(b)); err == nil && strings.HasPrefix(text, invitation.Prefix) {
		return text, nil
	}
	return "", err
}

// useInvitation joins a federation with the text of an invitation.
func (a *app) useInvitation(ctx context.Context, h daemon.Home, text string, yes bool) (Result, error) {
	t, err := invitation.Parse(text)
	if err != nil {
		return nil, usage("%w", err)
	}
	e, err := h.Enrol(a.reader, t, coordinator.RandomSeed(""))
	if err != nil {
		return nil, err
	}
	own := e.Member.Fingerprint()
	a.tell(fmt.Sprintf("%s joins %s, whose coordinator is %s at %s\nfingerprint of %s  %s  %s\nfingerprint of %s  %s  %s",
		t.Name, t.Federation, t.Coordinator, t.Address, t.Name, own, own.Words(), t.Coordinator, t.Fingerprint, t.Fingerprint.Words()))
	r, err := a.awaitRoster(ctx, e)
	if err != nil {
		return nil, err
	}
	if !yes {
		if err := a.confirm(nil, r); err != nil {
			return nil, err
		}
	}
	result := rosterOf(h.RosterPath(), r)
	result.Approved = true
	return result, h.Join(a.reader, r)
}

// askAgain is the time between two questions whether a newcomer is approved.
const askAgain = 2 * time.Second

// awaitRoster claims an invitation, and waits until the coordinator's operator has approved the claim.
func (a *app) awaitRoster(ctx context.Context, e *daemon.Enrolment) (*roster.Roster, error) {
	r, err := e.Ask(ctx)
	if err != nil || r != nil {
		return r, err
	}
	a.tell(fmt.Sprintf("read out the fingerprint of %s to the operator of %s; waiting for the approval (the same command goes on after an interruption)", e.Token.Name, e.Token.Coordinator))
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(askAgain):
		}
		r, err := e.Ask(ctx)
		if r != nil || err != nil && fault.CodeOf(err) != fault.CodeFailed {
			return r, err
		}
		if err != nil && ctx.Err() == nil { // the coordinator might be away for a while
			a.log.Warn("cannot ask the coordinator; trying again", "error", err)
		}
	}
}

// changedRoster is a roster that a command has changed.
type changedRoster struct{ rosterResult }

// Print lists the changes.
func (r changedRoster) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, c := range r.Changes {
		p.linef("%s", c.String())
	}
	p.linef("%s: roster %s", r.Path, r.Hash)
	p.linef("%s", inForce(r.Running))
	p.linef("send the roster to the other members; each runs mercer federation join on it")
	return p.err
}

// changed makes the daemon of a home adopt a roster, and describes what has changed since the former one.
func changed(ctx context.Context, h daemon.Home, former, r *roster.Roster) (Result, error) {
	result := changedRoster{rosterResult: rosterOf(h.RosterPath(), r)}
	result.Approved, result.Changes = true, roster.Compare(former, r)
	var err error
	if result.Running, err = reloadDaemon(ctx, h); err != nil {
		return nil, fmt.Errorf("the roster is approved, but the daemon does not have it in force: %w", err)
	}
	return result, nil
}

func (a *app) federationApprove() *cobra.Command {
	var home string
	var yes bool
	cmd := &cobra.Command{
		Use:   "approve NAME",
		Short: "Make a newcomer a member, after comparing its fingerprint",
		Long: `Add the party that has used an invitation to the roster of this coordinator. First
compare its fingerprint with its operator, over another channel than the one that
brought the invitation. The daemon has the new roster in force at once, and jobs of
others continue. Then send the roster to the other members.`,
		Example: "  mercer federation approve west --home ./c",
		Args:    args("NAME"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			h := a.at(home)
			former, err := h.ApprovedRoster()
			if err != nil {
				return nil, err
			}
			m, err := h.Newcomer(args[0])
			if err != nil {
				return nil, err
			}
			f := m.Fingerprint()
			if !yes {
				a.tell(fmt.Sprintf("%s  %s  %s", f, f.Words(), m.Name))
				if err := a.askYes("Have you compared the fingerprint with its owner? Type yes:", "the newcomer is not approved", "compare the fingerprint, then answer yes or use --yes"); err != nil {
					return nil, err
				}
			}
			r, err := h.ApproveNewcomer(a.reader, args[0], f)
			if err != nil {
				return nil, err
			}
			return changed(ctx, h, former, r)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without asking; you have compared the fingerprint")
	return cmd
}

func (a *app) federationRevoke() *cobra.Command {
	var home string
	var yes bool
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Remove a party from the roster",
		Long: `Remove a party from the roster of this home. At the coordinator, the daemon closes the
party's connection at once, aborts its jobs, and deletes its queue; jobs of others
continue. At a party, the daemon refuses jobs with the revoked party from now on. Send
the coordinator's roster to the other members, so that they refuse it, too. What the
party has received stays with it.`,
		Example: "  mercer federation revoke west --home ./c",
		Args:    args("NAME"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			h := a.at(home)
			former, err := h.ApprovedRoster()
			if err != nil {
				return nil, err
			}
			if !yes {
				if err := a.askYes(fmt.Sprintf("Remove %s, and abort its jobs? Type yes:", args[0]), "the roster stays as it is", "answer yes or use --yes"); err != nil {
					return nil, err
				}
			}
			r, leftover := h.Revoke(a.reader, args[0])
			if r == nil {
				return nil, leftover
			}
			result, err := changed(ctx, h, former, r)
			return result, errors.Join(leftover, err)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "remove it without asking")
	return cmd
}

// membersResult lists the members of a home's roster, and its open invitations.
type membersResult struct {
	Hash        string         `json:"hash"`
	Federation  string         `json:"federation"`
	Members     []memberLine   `json:"members"`
	Invitations []invitedParty `json:"invitations,omitempty"`
}

type memberLine struct {
	Name        string      `json:"name"`
	Role        roster.Role `json:"role"`
	Fingerprint string      `json:"fingerprint"`
	Words       string      `json:"words"`
}

// invitedParty is an open invitation. The fingerprint is of the party that has used it, or "".
type invitedParty struct {
	Name        string    `json:"name"`
	Expires     time.Time `json:"expires"`
	Fingerprint string    `json:"fingerprint,omitempty"`
	Words       string    `json:"words,omitempty"`
}

// Print lists members and invitations.
func (r membersResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, m := range r.Members {
		p.linef("%s  %s  %s (%s)", m.Fingerprint, m.Words, m.Name, m.Role)
	}
	for _, i := range r.Invitations {
		until := i.Expires.Format(time.DateTime + " UTC")
		if i.Fingerprint == "" {
			p.linef("invited: %s, until %s; has not used its invitation", i.Name, until)
			continue
		}
		p.linef("%s  %s  %s awaits approval (mercer federation approve %s), until %s", i.Fingerprint, i.Words, i.Name, i.Name, until)
	}
	p.linef("federation %s, roster %s", r.Federation, r.Hash)
	return p.err
}

func (a *app) federationShow() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Show the members, and who awaits approval",
		Long:    "List the members of this home's roster with their fingerprints, and the coordinator's open\ninvitations.",
		Example: "  mercer federation show --home ./c",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := a.at(home)
			r, err := h.ApprovedRoster()
			if err != nil {
				return nil, err
			}
			if r == nil {
				return nil, usage("%s has joined no federation; use mercer federation join", home)
			}
			open, err := h.Invitations().List(time.Now())
			return membersOf(r, open), err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// membersOf describes a roster and open invitations. It leaves out an invitation whose newcomer is a member already.
func membersOf(r *roster.Roster, open []invitation.Invitation) membersResult {
	result := membersResult{Hash: daemon.RosterHash(r), Federation: r.Federation}
	for _, m := range r.Members {
		f := m.Fingerprint()
		result.Members = append(result.Members, memberLine{m.Name, m.Role, f.String(), f.Words()})
	}
	for _, i := range open {
		if _, is := r.Lookup(i.Name); is {
			continue
		}
		one := invitedParty{Name: i.Name, Expires: i.Expires}
		if m, is := i.Claimant(); is {
			f := m.Fingerprint()
			one.Fingerprint, one.Words = f.String(), f.Words()
		}
		result.Invitations = append(result.Invitations, one)
	}
	return result
}
