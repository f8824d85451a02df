package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

func (a *app) federation() *cobra.Command {
	cmd := group("federation", "Found a federation: create identities, make the roster, approve it")
	cmd.Example = `  mercer federation init --home ./c --name coordinator --role coordinator --listen 0.0.0.0:4222
  mercer federation init --home ./n --name north --coordinator nats://host:4222
  mercer federation roster hospitals ./c/member.yaml ./n/member.yaml ./s/member.yaml --out roster.yaml
  mercer federation join --home ./n roster.yaml`
	cmd.AddCommand(a.federationInit(), a.federationRoster(), a.federationJoin(), a.federationRotate(), a.federationSplitKey(), a.federationTLS(), a.federationDictionary())
	return cmd
}

// identityResult is a fresh identity.
type identityResult struct {
	Name        string `json:"name"`
	Role        string `json:"role"`
	Fingerprint string `json:"fingerprint"`
	Member      string `json:"member"` // path of the member file
}

// Print tells the operator the next step.
func (r identityResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s (%s)", r.Name, r.Role)
	p.linef("fingerprint %s", r.Fingerprint)
	p.linef("send %s to the person who puts the roster together, and read the fingerprint out on the telephone", r.Member)
	return p.err
}

func (a *app) federationInit() *cobra.Command {
	var home, role string
	var c daemon.Config
	cmd := &cobra.Command{
		Use:     "init",
		Short:   "Create a home with an identity",
		Long:    "Create a home folder with a fresh identity, its member file and a configuration to fill in.",
		Example: "  mercer federation init --home ./north --name north --coordinator nats://host:4222",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			if role != string(roster.Party) && role != string(roster.Coordinator) {
				return nil, usage("role %q; use party or coordinator", role)
			}
			if c.Name == "" {
				return nil, usage("federation init needs --name, the name that the roster gives this member")
			}
			h := daemon.Home(home)
			m, err := h.Create(a.reader, &c, roster.Role(role), coordinator.RandomSeed(""))
			if err != nil {
				return nil, err
			}
			return identityResult{m.Name, role, m.Fingerprint().String(), h.MemberPath()}, nil
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&c.Name, "name", "", "name in the federation: lower-case letters, digits and dashes")
	cmd.Flags().StringVar(&role, "role", string(roster.Party), "party or coordinator")
	cmd.Flags().StringVar(&c.Listen, "listen", "", "for a coordinator: address on which parties reach it, host:port")
	cmd.Flags().StringVar(&c.Coordinator, "coordinator", "", "for a party: address of the coordinator, nats://host:port")
	return cmd
}

func (a *app) federationTLS() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "tls",
		Short: "Add the TLS key to a coordinator's member file",
		Long: `Write the coordinator's TLS key into its member.yaml, for a home that was made
without one: by an earlier version, or to listen for its own machine only. The key
follows from the identity. Then make the roster again, compare the fingerprints, have
every member join it, and start all daemons again: they speak TLS from then on.`,
		Example: "  mercer federation tls --home ./c",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := daemon.Home(home)
			m, err := h.AddTLSKey()
			return identityResult{m.Name, string(m.Role), m.Fingerprint().String(), h.MemberPath()}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// rosterResult is a roster with its fingerprints.
type rosterResult struct {
	Path         string   `json:"path"`
	Hash         string   `json:"hash"`
	Fingerprints []string `json:"fingerprints"`
	Approved     bool     `json:"approved"`
}

// Print lists the members.
func (r rosterResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, line := range r.Fingerprints {
		p.linef("%s", line)
	}
	p.linef("%s: roster %s", r.Path, r.Hash)
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
		Short:   "Put member files together into a roster",
		Example: "  mercer federation roster hospitals c.yaml north.yaml south.yaml --out roster.yaml",
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) < 3 {
				return usage("%s needs a name for the federation and two or more member files", name(cmd))
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
		Use:   "join ROSTER.yaml",
		Short: "Approve a roster, after comparing every fingerprint",
		Long: `Install a roster in this home and approve it. One sock puppet among the parties
reads everybody's rows. So first compare every fingerprint with its owner, over
another channel than the one by which the roster came.`,
		Example: "  mercer federation join --home ./north roster.yaml",
		Args:    args("ROSTER.yaml"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			r, err := roster.Load(args[0])
			if err != nil {
				return nil, usage("%w", err)
			}
			if !yes {
				if err := a.confirm(r); err != nil {
					return nil, err
				}
			}
			result := rosterOf(args[0], r)
			result.Approved = true
			return result, daemon.Home(home).Join(a.reader, r)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "approve without a question: the fingerprints have been compared")
	return cmd
}

// confirm asks the operator whether the fingerprints have been compared.
func (a *app) confirm(r *roster.Roster) error {
	a.tell(strings.Join(r.Fingerprints(), "\n"))
	return a.asked("Have you compared every fingerprint with its owner? Type yes:", "the roster is not approved", "compare the fingerprints and answer yes, or use --yes")
}

// rotation lists what was erased of each job.
type rotation struct {
	Jobs map[string]admin.Forgotten `json:"jobs"`
}

// Print says of each job what was erased, and where.
func (r rotation) Print(w io.Writer) error {
	p := &printer{w: w}
	for _, id := range slices.Sorted(maps.Keys(r.Jobs)) {
		p.join(forgetResult{id, r.Jobs[id]}.Print(w))
	}
	p.linef("no job that ended before can be continued")
	return p.err
}

func (a *app) federationRotate() *cobra.Command {
	return a.asking(&cobra.Command{
		Use:   "rotate",
		Short: "Begin a new epoch: nobody can continue an earlier job any more",
		Long: `Have all members erase what continuable jobs left: at the coordinator encoded rows,
their products and the decisions on held-out rows, at each party the seed of its rows.
A later job draws a new seed. Each party confirms, and a party that is away is told
when it comes back. A continuable job that is queued or running must end before. If
the command is broken off, give it again.`,
		Example: "  mercer federation rotate --home ./c",
		Args:    args(),
	}, func(ctx context.Context, c *admin.Client, _ []string) (Result, error) {
		erased, err := c.Rotate(ctx)
		return rotation{erased}, err
	})
}

// splitKeyResult is a fresh split key.
type splitKeyResult struct {
	Path string `json:"path"`
}

// Print tells the operator the next step.
func (r splitKeyResult) Print(w io.Writer) error {
	return linef(w, "%s: a new key; back it up, it is the same for all jobs of this home", r.Path)
}

func (a *app) federationSplitKey() *cobra.Command {
	var home string
	var yes bool
	cmd := &cobra.Command{
		Use:   "split-key",
		Short: "Replace a lost split key, the key by which a party holds rows out",
		Long: `Draw a new split key, the key by which this party holds rows out. A home should
keep one split key for good. A new key holds out other rows, so jobs before and
after the change together tell more about single rows than each job does. Restore
the old key from a backup if there is one. Draw a new key only if the old one is
lost.`,
		Example: "  mercer federation split-key --home ./north --yes",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := daemon.Home(home)
			if !yes {
				return nil, refused(errors.New("other rows would be held out from now on"), "use --yes if the old key is lost")
			}
			return splitKeyResult{h.SplitKeyPath()}, h.RenewSplitKey()
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().BoolVar(&yes, "yes", false, "draw a new key without a question: the old one is lost")
	return cmd
}
