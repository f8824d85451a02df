package party

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// The rows of jobs that are not open go, whatever ended the process that read them; the rows of
// open jobs stay until these are destroyed.
func TestSnapshotsGoWithTheirJobs(t *testing.T) {
	id, err := identity.FromSeed([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	artifacts, err := vault.OpenArtifacts(filepath.Join(t.TempDir(), "snapshots"), id.KEMKey())
	if err != nil {
		t.Fatal(err)
	}
	open, gone := job.ID{1}, job.ID{2}
	for _, id := range []job.ID{open, gone} {
		if err := errors.Join(artifacts.Put(id, vault.Snapshot, []byte("rows")), artifacts.Put(id, "run-3", []byte("rows"))); err != nil {
			t.Fatal(err)
		}
	}
	p := &Party{
		Config: Config{Snapshots: artifacts, Vault: vault.NewMemory(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Audit: audit.Discard{}, Roster: &roster.Roster{}, Policy: func(string) (Policy, error) { return usual(), nil }},
		jobs:   map[job.ID]*work{open: {id: open, job: parse(t, "none", "{name: okra}", "open"), inquiry: &control.Inquiry{}}},
	}
	p.sweepSnapshots()
	if left, err := artifacts.Jobs(); err != nil || len(left) != 1 || left[0].Job != open {
		t.Fatalf("%v are left, %v", left, err)
	}
	if _, err := artifacts.Get(open, vault.Snapshot); err != nil {
		t.Error(err)
	}
	if err := p.destroy(p.jobs[open], "done"); err != nil {
		t.Fatal(err)
	}
	if left, err := artifacts.Jobs(); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
