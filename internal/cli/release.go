package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/release"
)

func (a *app) release() *cobra.Command {
	cmd := group("release", "See and approve what jobs by columns let out of a party's data")
	cmd.Example = "  mercer release list --home ./shop\n  mercer release approve 0123456789abcdef --home ./shop"
	cmd.AddCommand(a.releaseList(), a.releaseApprove())
	return cmd
}

// releaseEntry is a release for people and programs.
type releaseEntry struct {
	ID      string        `json:"id"`
	State   release.State `json:"state"`
	Kind    release.Kind  `json:"kind"`
	Job     string        `json:"job"`
	Peers   []string      `json:"peers"`
	Columns int           `json:"columns"`
	Rows    int           `json:"rows"`
	Reveals []string      `json:"reveals"`
}

type releaseList struct {
	Releases []releaseEntry `json:"releases"`
}

// Print shows the releases, and under one that is not out yet what it would tell.
func (r releaseList) Print(w io.Writer) error {
	p := &printer{w: w}
	if len(r.Releases) == 0 {
		p.linef("nothing has been let out of this party's columns")
	}
	for _, e := range r.Releases {
		p.linef("%s  %-8s  %s of job %s to %s: %d columns, %d rows", e.ID, e.State, e.Kind, e.Job, strings.Join(e.Peers, ", "), e.Columns, e.Rows)
		for _, said := range e.Reveals {
			p.linef("    %s", said)
		}
	}
	return p.err
}

func (a *app) releaseList() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what jobs by columns have let out of this party's data",
		Long: `List what jobs between holders of columns have let out of this party's data, and
what is held because it differs from an earlier release over some of the same
rows. Under a held one stands what both together would tell.`,
		Example: "  mercer release list --home ./shop",
		Args:    args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			list, err := daemon.Home(home).Releases().Read()
			r := releaseList{Releases: []releaseEntry{}}
			for _, e := range list {
				r.Releases = append(r.Releases, releaseEntry{e.ID, e.State, e.Kind, e.Job, e.Peers, len(e.Columns), len(e.Rows), append([]string{}, e.Reveals...)})
			}
			return r, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

// approved names the release that the next such job lets out.
type approved struct {
	ID string `json:"id"`
}

// Print says what happens next.
func (r approved) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("release %s is approved; when the job is submitted again it passes", r.ID)
	return p.err
}

func (a *app) releaseApprove() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Allow a release that is held",
		Long: `Allow a release that is held, with everything that mercer release list says it
tells together with earlier ones. Whoever submits the job does so again.`,
		Example: "  mercer release approve 0123456789abcdef --home ./shop",
		Args:    args("ID"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			err := daemon.Home(home).Releases().Approve(args[0])
			if errors.Is(err, release.ErrNotHeld) {
				return nil, usage("%s: %w", args[0], err)
			}
			return approved{args[0]}, err
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}
