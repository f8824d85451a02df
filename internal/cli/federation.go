package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

func (a *app) federation() *cobra.Command {
	cmd := commandGroup("federation", "Set up a federation: create identities, make the roster, approve it")
	cmd.Example = `  mercer federation init --home ./c --name coordinator --role coordinator --listen 0.0.0.0:4222
  mercer federation roster hospitals ./c/member.yaml --out roster.yaml
  mercer federation join --home ./c roster.yaml
  mercer federation invite north --home ./c --address nats://host:4222
  mercer federation join --home ./n north.invitation
  mercer federation approve north --home ./c`
	cmd.AddCommand(a.federationInit(), a.federationRoster(), a.federationDiff(), a.federationJoin(), a.federationInvite(), a.federationApprove(), a.federationRevoke(), a.federationShow(), a.federationRotate(), a.federationSplitKey(), a.federationPassphrase(), a.federationRotateIdentity(), a.federationTLS(), a.federationDictionary(), a.federationStudy())
	return cmd
}

// identityResult describes a new identity.
type identityResult struct {
	Name        string `json:"name"`
	Role        string `json:"role"`
	Fingerprint string `json:"fingerprint"`
	Words       string `json:"words"`  // the fingerprint in words
	Member      string `json:"member"` // path of the member file
}

func identityOf(h daemon.Home, m roster.Member) identityResult {
	f := m.Fingerprint()
	return identityResult{m.Name, string(m.Role), f.String(), f.Words(), h.MemberPath()}
}

// Print tells the operator the next step.
func (r identityResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s (%s)", r.Name, r.Role)
	p.linef("fingerprint %s", r.Fingerprint)
	p.linef("in words    %s", r.Words)
	p.linef("send %s to the operator who makes the roster, and read out the fingerprint by telephone", r.Member)
	return p.err
}

func (a *app) federationInit() *cobra.Command {
	var home, role string
	var c daemon.Config
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Create a home with an identity",
		Long:  "Create a home folder with a fresh identity, its member file and a configuration to fill in.",
		Example: `  mercer federation init --home ./north --name north --coordinator nats://host:4222
  mercer federation init --home ./c --name coordinator --role coordinator --listen 127.0.0.1:4222 --listen-wss 0.0.0.0:443`,
		Args: args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			if role != string(roster.Party) && role != string(roster.Coordinator) {
				return nil, usage("--role is %q; use party or coordinator", role)
			}
			if c.Name == "" {
				return nil, usage("--name is missing for federation init; give the name that the roster gives this member")
			}
			h := a.at(home)
			m, err := h.Create(a.reader, &c, roster.Role(role), coordinator.RandomSeed(""))
			if err != nil {
				return nil, err
			}
			return identityOf(h, m), nil
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&c.Name, "name", "", "name in the federation: lower-case letters, digits and dashes")
	cmd.Flags().StringVar(&role, "role", string(roster.Party), "party or coordinator")
	cmd.Flags().StringVar(&c.Listen, "listen", "", "for a coordinator: address on which parties reach it, host:port")
	cmd.Flags().StringVar(&c.ListenWSS, "listen-wss", "", "for a coordinator: address on which parties also reach it by WebSocket over TLS, host:port")
	cmd.Flags().StringVar(&c.Coordinator, "coordinator", "", "for a party: address of the coordinator, nats://host:port, tls://host:port or wss://host:port")
	return cmd
}

func (a *app) federationTLS() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "tls",
		Short: "Add the TLS key to a coordinator's member file",
		Long: `Write the coordinator's TLS key into its member.yaml. A home lacks the key if an
earlier version made it, or if it was made to listen on its own machine only. The key
is derived from the identity. Then make the roster again, compare the fingerprints,
have every member join the new roster, and restart all daemons. From then on they use
TLS.`,
		Example: "  mercer federation tls --home ./c",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := a.at(home)
			m, err := h.AddTLSKey()
			return identityOf(h, m), err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// rosterResult is a roster with its members' fingerprints.
type rosterResult struct {
	Path         string   `json:"path"`
	Hash         string   `json:"hash"`
	Fingerprints []string `json:"fingerprints"`
	Approved     bool     `json:"approved"`

	Changes []roster.Change `json:"changes,omitempty"`  // changes since the roster that the home had approved
	Running bool            `json:"in_force,omitempty"` // whether a daemon of the home has the roster in force
	Problem string          `json:"problem,omitempty"`  // why the daemon does not have the roster in force
}

// Print lists the members. For each new identity it says whether the earlier key signed it.
func (r rosterResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, line := range r.Fingerprints {
		p.linef("%s", line)
	}
	for _, c := range r.Changes {
		if c.Signed != "" {
			p.linef("%s", c)
		}
	}
	p.linef("%s: roster %s", r.Path, r.Hash)
	switch {
	case r.Problem != "":
		p.linef("the daemon of this home does not have it in force: %s", r.Problem)
	case r.Running:
		p.linef("%s", inForce(r.Running))
	}
	return p.err
}

func rosterOf(path string, r *roster.Roster) rosterResult {
	h := r.Hash()
	return rosterResult{Path: path, Hash: hex.EncodeToString(h[:]), Fingerprints: r.Fingerprints()}
}

func (a *app) federationRoster() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:     "roster FEDERATION MEMBER.yaml...",
		Short:   "Make a roster from member files",
		Example: "  mercer federation roster hospitals c.yaml north.yaml south.yaml --out roster.yaml",
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) < 2 {
				return usage("%s needs a name for the federation and one or more member files", commandName(cmd))
			}
			return nil
		},
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			r := &roster.Roster{Federation: args[0]}
			for _, path := range args[1:] {
				m, err := roster.LoadMember(path)
				if err != nil {
					return nil, usage("%w", err)
				}
				r.Members = append(r.Members, m)
			}
			if err := r.Validate(); err != nil {
				return nil, usage("%w", err)
			}
			return rosterOf(out, r), r.Save(out)
		}),
	}
	cmd.Flags().StringVar(&out, "out", "roster.yaml", "file to write")
	return cmd
}

func (a *app) federationJoin() *cobra.Command {
	var home string
	var yes bool
	cmd := &cobra.Command{
		Use:   "join FILE",
		Short: "Join a federation: approve a roster, or use an invitation",
		Long: `With a roster: install it in this home and approve it. If a daemon runs here, it has the
roster in force at once. A single fake party can read the rows of all parties. So first
compare every fingerprint with its owner, over another channel than the one that brought
the roster.

With an invitation, or - to read one from stdin: create the home if there is none, send
its public keys to the coordinator, wait until its operator has approved them, and then
install the roster that it sends.`,
		Example: `  mercer federation join --home ./north roster.yaml
  mercer federation join --home ./west west.invitation`,
		Args: args("FILE"),
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			h := a.at(home)
			text, err := a.readInvitation(args[0])
			if err != nil {
				return nil, err
			}
			if text != "" {
				return a.useInvitation(ctx, h, text, yes)
			}
			r, err := roster.Load(args[0])
			if err != nil {
				return nil, usage("%w", err)
			}
			former, err := h.ApprovedRoster()
			if err != nil {
				return nil, err
			}
			if !yes {
				if err := a.confirm(former, r); err != nil {
					return nil, err
				}
			}
			result := rosterOf(args[0], r)
			result.Approved = true
			if former != nil {
				result.Changes = roster.Compare(former, r)
			}
			if err := h.Join(a.reader, r); err != nil {
				return nil, err
			}
			if result.Running, err = reloadDaemon(ctx, h); err != nil {
				result.Problem = err.Error()
			}
			return result, nil
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without asking; you have compared the fingerprints")
	return cmd
}

// confirm asks the operator to confirm the fingerprints: of all members, or of those that differ from
// the roster that the home had approved.
func (a *app) confirm(former, r *roster.Roster) error {
	if former == nil {
		a.tell(strings.Join(r.Fingerprints(), "\n"))
		return a.askYes("Have you compared every fingerprint with its owner? Type yes:", "the roster is not approved", "compare the fingerprints, then answer yes or use --yes")
	}
	a.tell(rosterDiff{Changes: roster.Compare(former, r), Members: len(r.Members)}.text())
	return a.askYes("Have you compared the fingerprint of each member that is added or has other keys with its owner? Type yes:", "the roster is not approved", "compare the fingerprints, then answer yes or use --yes")
}

// rosterDiff lists what a roster changes.
type rosterDiff struct {
	Changes []roster.Change `json:"changes"`
	Members int             `json:"members"` // number of members of the later roster
}

// text returns a line for each change, and one for the members that stay as they were.
func (d rosterDiff) text() string {
	var lines []string
	same := d.Members
	for _, c := range d.Changes {
		lines = append(lines, c.String())
		if c.What != roster.Removed {
			same--
		}
	}
	return strings.Join(append(lines, fmt.Sprintf("%-10s  %s", "unchanged", humanize.Count(same, "member"))), "\n")
}

// Print lists the changes.
func (d rosterDiff) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s", d.text())
	return p.err
}

func (a *app) federationDiff() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "diff ROSTER.yaml",
		Short: "Show what a roster changes",
		Long: `Compare a roster with the one that this home has approved: which members it adds,
which have other keys, and whom it removes. Fingerprints are of the keys in the new
roster; compare them with their owners before you join it. Nothing is changed.`,
		Example: "  mercer federation diff --home ./north roster.yaml",
		Args:    args("ROSTER.yaml"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			r, err := roster.Load(args[0])
			if err != nil {
				return nil, usage("%w", err)
			}
			former, err := a.at(home).ApprovedRoster()
			if err != nil {
				return nil, err
			}
			if former == nil {
				former = &roster.Roster{}
			}
			return rosterDiff{Changes: roster.Compare(former, r), Members: len(r.Members)}, nil
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// rotation lists the items that were erased from each job.
type rotation struct {
	Jobs map[string]admin.Forgotten `json:"jobs"`
}

// Print lists the erased items by job and member.
func (r rotation) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, id := range slices.Sorted(maps.Keys(r.Jobs)) {
		p.join(forgetResult{id, r.Jobs[id]}.Print(w))
	}
	p.linef("earlier jobs cannot be continued any more")
	return p.err
}

func (a *app) federationRotate() *cobra.Command {
	return a.clientCommand(&cobra.Command{
		Use:   "rotate",
		Short: "Start a new epoch, so that no earlier job can be continued",
		Long: `Have all members erase the state of continuable jobs. The coordinator erases encoded
rows, their inner products and the decisions on held-out rows. Each party erases the
seed that its rows were encoded with, and confirms. A party that is offline does so
when it comes back. Later jobs draw a new seed. Wait until no continuable job is
queued or running. If the command is interrupted, run it again.`,
		Example: "  mercer federation rotate --home ./c",
		Args:    args(),
	}, func(ctx context.Context, c *admin.Client, _ []string) (Result, error) {
		erased, err := c.Rotate(ctx)
		return rotation{erased}, err
	})
}

// splitKeyResult reports a new split key, which chooses held-out rows.
type splitKeyResult struct {
	Path string `json:"path"`
}

// Print tells the operator the next step.
func (r splitKeyResult) Print(w io.Writer) error {
	return linef(w, "%s: new split key; back it up, because all jobs of this home use it", r.Path)
}

func (a *app) federationSplitKey() *cobra.Command {
	var home string
	var yes bool
	cmd := &cobra.Command{
		Use:   "split-key",
		Short: "Replace a lost split key, which selects a party's held-out rows",
		Long: `Draw a new split key. The split key selects the rows that this party holds out. A
home should keep one split key for good: a new key holds out other rows, so jobs
before and after the change together reveal more about single rows than each job
alone. Draw a new key only if the old one is lost and there is no backup.`,
		Example: "  mercer federation split-key --home ./north --yes",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := a.at(home)
			if !yes {
				return nil, refused(errors.New("a new split key would hold out other rows from now on"), "use --yes if the old key is lost")
			}
			return splitKeyResult{h.SplitKeyPath()}, h.RenewSplitKey()
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "draw a new key without asking; the old one is lost")
	return cmd
}
