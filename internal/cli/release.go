package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

func (a *app) release() *cobra.Command {
	cmd := commandGroup("release", "List the releases of a party's data, and approve or refuse those that await approval")
	cmd.Example = "  mercer release list --home ./shop\n  mercer release approve 0123456789abcdef --home ./shop"
	cmd.AddCommand(a.releaseList(), a.releaseApprove(), a.releaseRefuse(), a.releaseWithdraw())
	return cmd
}

// releaseEntry describes one release of data.
type releaseEntry struct {
	ID      string               `json:"id"`
	State   string               `json:"state"`
	Kind    method.ReleaseKind   `json:"kind"`
	Also    []method.ReleaseKind `json:"also,omitempty"` // other kinds of releases of the same job
	Job     string               `json:"job"`
	Day     string               `json:"day,omitempty"` // day of the last release
	Learns  string               `json:"learns"`        // text that says who can learn what from the release
	Asked   bool                 `json:"question"`
	Peers   []string             `json:"peers"`
	Columns int                  `json:"columns"`
	Rows    int                  `json:"rows"`
	Uses    int                  `json:"uses"`              // number of releases, for kinds whose number is limited
	Told    float64              `json:"told,omitempty"`    // number of released sums divided by the number of cells in the rows
	Epsilon float64              `json:"epsilon,omitempty"` // epsilon of the job's guarantee; 0 for a release without noise
	Delta   float64              `json:"delta,omitempty"`
	Reveals []string             `json:"reveals"`
}

// releasePeer counts the ids that a peer has looked up.
type releasePeer struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
	IDs      int64  `json:"ids"`
}

type releaseList struct {
	Releases []releaseEntry `json:"releases"`
	Peers    []releasePeer  `json:"peers"`
}

// Print lists the releases, and below each release who can learn what from it, unless it awaits approval, and what it
// reveals together with others.
func (r releaseList) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Releases) == 0 {
		p.linef("nothing of this party's data has been released")
	}
	for _, e := range r.Releases {
		what := "job"
		if e.Asked {
			what = "a prediction query on job"
		}
		p.linef("%10s  %s  %-17s  %s of %s %s to %s: %d columns, %d rows%s%s", e.Day, e.ID, e.State, string(e.Kind)+guarantee(e.Epsilon, e.Delta), what, e.Job, strings.Join(e.Peers, ", "), e.Columns, e.Rows, e.usesText(), e.toldText()+e.alsoText())
		if e.State != disclosure.Held.Words() {
			p.linef("    %s", e.Learns)
		}
		for _, said := range e.Reveals {
			p.linef("    %s", said)
		}
	}
	for _, peer := range r.Peers {
		p.linef("%s has looked up %d ids here in %d sessions", peer.Name, peer.IDs, peer.Sessions)
	}
	return p.err
}

// usesText returns a text that says how many releases of sums or models there were.
func (e releaseEntry) usesText() string {
	if !e.Kind.Summed() || e.Uses < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times", e.Uses)
}

// toldText compares the number of released sums with the cells of the rows.
func (e releaseEntry) toldText() string {
	if e.Told == 0 {
		return ""
	}
	return fmt.Sprintf("; numbers released for each cell: %.3g %%", 100*e.Told)
}

// alsoText describes the other kinds of releases of the same job.
func (e releaseEntry) alsoText() string {
	if len(e.Also) == 0 {
		return ""
	}
	names := make([]string, len(e.Also))
	for i, k := range e.Also {
		names[i] = string(k)
	}
	return "; also " + strings.Join(names, ", ")
}

func listed(e disclosure.Listed) releaseEntry {
	return releaseEntry{e.ID, e.State.Words(), e.Kind, e.Also, e.Job, e.Day, e.Learns(), e.Question, e.Peers, e.Columns, e.Rows, e.Uses, e.Told, e.Epsilon, e.Delta, append([]string{}, e.Reveals...)}
}

func (a *app) releaseList() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the releases of this party's data",
		Long: `List the releases of this party's data by jobs and by prediction queries, with the day
of the last one and who can learn what from it. A release awaits approval if it differs
from an earlier release over some of its rows. The list also has the releases that
await approval, and the approved ones before and after they are made, with what both
releases together reveal. The last table counts the ids that each peer has looked up.`,
		Example: "  mercer release list --home ./shop",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			ledger := a.at(home).Releases()
			list, err := ledger.List()
			if err != nil {
				return nil, err
			}
			r := releaseList{Releases: []releaseEntry{}, Peers: []releasePeer{}}
			for _, e := range list {
				r.Releases = append(r.Releases, listed(e))
			}
			peers, err := ledger.Peers()
			for _, p := range peers {
				r.Peers = append(r.Peers, releasePeer(p))
			}
			return r, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// decidedRelease names a release that the operator has approved, refused or withdrawn.
type decidedRelease struct {
	ID   string `json:"id"`
	next string // the next step, for people
}

// Print tells the operator the next step.
func (r decidedRelease) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("release %s %s", r.ID, r.next)
	return p.err
}

func (a *app) releaseApprove() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Approve a release that awaits approval",
		Long: `Approve a release that awaits approval, with everything that mercer release list
says it reveals together with earlier releases. Then submit the job again, or repeat
the prediction query. The approval is for the content of the release, not for the job.
It ends when the release is made, after 30 days, or with mercer release withdraw. The
audit record has the user, and says so if this user may have submitted the job.`,
		Example: "  mercer release approve 0123456789abcdef --home ./shop",
		Args:    args("ID"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			err := a.at(home).ApproveRelease(a.reader, args[0])
			return decidedRelease{args[0], "is approved; submit the job again, or repeat the prediction query"}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

func (a *app) releaseRefuse() *cobra.Command {
	var home, reason string
	cmd := &cobra.Command{
		Use:   "refuse ID",
		Short: "Refuse a release that awaits approval",
		Long: `Refuse a release that awaits approval. It leaves the list of mercer release list, and
the job that asked for it stays refused. The audit record has the user and the reason;
no other member reads the reason. If a job asks for the release again, it awaits
approval again, even if it was approved before when it revealed less.`,
		Example: "  mercer release refuse 0123456789abcdef --reason too-few-people --home ./shop",
		Args:    args("ID"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			err := a.at(home).RefuseRelease(a.reader, args[0], reason)
			return decidedRelease{args[0], "is refused; it will await approval when a job needs it again"}, err
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&reason, "reason", "", "reason, for this home's audit record; default none")
	return cmd
}

func (a *app) releaseWithdraw() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "withdraw ID",
		Short: "Withdraw an unused approval, or remove a release that awaits approval from the list",
		Long: `Withdraw the approval of a release that no session has made yet, or remove a
release that awaits approval from the list. Released data cannot be recalled. The audit
record has the user.`,
		Example: "  mercer release withdraw 0123456789abcdef --home ./shop",
		Args:    args("ID"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			err := a.at(home).WithdrawRelease(a.reader, args[0])
			return decidedRelease{args[0], "is not approved; it will await approval when a job needs it again"}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
