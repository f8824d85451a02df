package coordinator_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// goldenHomes are the homes of a federation as the program of 2026-11-22 22:30 left them: finished
// jobs by okra, moments and gram whose models can be asked, one that is under way, and ledgers of
// releases of v2. Every later program must open them. They are never written anew: a later
// program's ledgers hold these jobs over the same people. See [eras] for other programs' homes.
const goldenHomes = "testdata/homes-1.tar.gz"

// golden describes the content of the homes.
type golden struct {
	Jobs     map[string]string   `json:"jobs"`              // ids by protocol; "open" is under way
	Says     map[string][]string `json:"predicted"`         // what each model predicts for the new rows
	Releases int                 `json:"releases"`          // in south's ledger
	Model    string              `json:"model"`             // of "open", had nobody interrupted it
	Ledgers  map[string][]string `json:"ledgers,omitempty"` // of eras, in lines
	Held     int64               `json:"held,omitempty"`    // when a release of an era was held, in seconds
}

// goldenJobs are the finished ones.
func goldenJobs(t *testing.T) map[string]*job.Job {
	t.Helper()
	return map[string]*job.Job{
		"okra":    parse(t, openJob),
		"moments": moments(t, ", directions: 4", openJob),
		"gram":    opened(t, columns(t)),
	}
}

// goldenTestbed has the members of the homes, and the rows that are asked about.
func goldenTestbed(t *testing.T) *testbed {
	t.Helper()
	w := newTestbed(t, tumours(t, parse(t, "")))
	_, w.fresh = newcomers(t, columns(t))
	return w
}

// says returns a model's predictions for new rows at north.
func (w *testbed) says(protocol string, id job.ID) []string {
	w.t.Helper()
	rows, source := newRows(w.t), ""
	if protocol == "gram" {
		rows, _ = newcomers(w.t, columns(w.t))
		source = newSource
	}
	a, err := w.ask("north", id, rows, source)
	if err != nil {
		w.t.Fatalf("%s: %v", protocol, err)
	}
	return a.Predicted
}

// give makes shares the members' tables.
func (w *testbed) give(shares []partition.Share) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range shares {
		w.tables[s.Party] = s.Table
	}
}

// pack ends all members and writes their homes into a file.
func (w *testbed) pack(g golden, file string) {
	w.t.Helper()
	for _, m := range w.roster.Members {
		w.halt(m.Name)
	}
	said, err := json.MarshalIndent(g, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, "golden.json"), said, 0o600)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zip)
	err = errors.Join(err, addHomes(archive, os.DirFS(w.dir)), archive.Close(), zip.Close())
	if err == nil {
		err = os.WriteFile(file, packed.Bytes(), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// addHomes adds homes to an archive, equal files of members beside each other: gzip looks 32 KiB back.
func addHomes(to *tar.Writer, homes fs.FS) error {
	var paths []string
	err := fs.WalkDir(homes, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			path += "/" // some are empty
		}
		paths = append(paths, path)
		return err
	})
	slices.SortFunc(paths, func(a, b string) int {
		_, inA, _ := strings.Cut(a, "/")
		_, inB, _ := strings.Cut(b, "/")
		return cmp.Or(strings.Compare(inA, inB), strings.Compare(a, b))
	})
	for _, path := range paths {
		err = errors.Join(err, addFile(to, homes, path))
	}
	return err
}

// addFile adds a file or, with a stroke at its end, a folder.
func addFile(to *tar.Writer, homes fs.FS, path string) error {
	if strings.HasSuffix(path, "/") {
		return to.WriteHeader(&tar.Header{Name: path, Mode: 0o700, Typeflag: tar.TypeDir})
	}
	b, err := fs.ReadFile(homes, path)
	if err == nil {
		err = to.WriteHeader(&tar.Header{Name: path, Mode: 0o600, Size: int64(len(b))})
	}
	if err == nil {
		_, err = to.Write(b)
	}
	return err
}

// openGolden unpacks the homes.
func openGolden(t *testing.T, w *testbed, file string) (g golden) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(zip)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(w.dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var b []byte
			if b, err = io.ReadAll(archive); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := fs.ReadFile(os.DirFS(w.dir), "golden.json")
	if err == nil {
		err = json.Unmarshal(b, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g golden) id(t *testing.T, name string) job.ID {
	t.Helper()
	id, err := job.ParseID(g.Jobs[name])
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// An upgrade opens the homes of an earlier program: finished jobs are listed with their results, their
// models give the same predictions, ledgers are kept, and new jobs run. The running job belongs to the
// earlier program; its sessions are kept until the operator gives them up, and then it fails.
func TestGoldenHomes(t *testing.T) {
	w := goldenTestbed(t)
	g := openGolden(t, w, goldenHomes)
	w.random = true
	for _, m := range w.roster.Members {
		w.wantForeign(m.Name, "a later build")
		w.wantReadable(m.Name)
	}
	w.program, w.abandons = "a later build", true
	w.startAll()
	for protocol := range goldenJobs(t) {
		done, err := w.members[hub].boss.Get(g.id(t, protocol))
		if err != nil || done.State != overview.Done || done.Result == nil || done.Result.Training < 20 {
			t.Errorf("%s: %+v, %v", protocol, done.Status, err)
		}
		if got := w.says(protocol, g.id(t, protocol)); len(got) < 15 || !slices.Equal(got, g.Says[protocol]) {
			t.Errorf("%s said %q and says %q", protocol, g.Says[protocol], got)
		}
	}
	if lost := w.wait(g.id(t, "open")); lost.Failure == nil {
		t.Error("a job went on whose sessions belong to another build")
	}
	list, err := w.releases("south").List()
	if err != nil || len(list) < g.Releases || g.Releases == 0 || slices.ContainsFunc(list, func(e disclosure.Listed) bool { return e.State != disclosure.Released }) {
		t.Errorf("%d releases, %v; there were %d", len(list), err, g.Releases)
	}
	j := parse(t, "")
	w.give(firstTumours(t, j, 80))
	if f := w.run(j).Failure; f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "the job awaits its operator's approval") {
		t.Errorf("rows of people who are in sums of the earlier program: %+v", f)
	}
	for _, name := range j.Parties() {
		w.approveAll(name)
	}
	w.mustRun(j)
}

// approveAll has a party's operator approve all that is held, until nothing is.
func (w *testbed) approveAll(name string) {
	w.t.Helper()
	for _, e := range w.inState(name, disclosure.Held) {
		if err := w.releases(name).Approve(e.ID, disclosuretest.Agree); err != nil {
			w.t.Fatal(err)
		}
	}
}

// wantForeign checks that another build keeps a member's open sessions and names them.
func (w *testbed) wantForeign(name, build string) {
	w.t.Helper()
	w.withVault(name, build, func(v *vault.Disk) {
		_, _, err := v.Open()
		var foreign *vault.BuildError
		if !errors.As(err, &foreign) || len(foreign.Sessions) == 0 {
			w.t.Errorf("%s: %v, want the sessions of another build", name, err)
		}
	})
}

// wantReadable checks that a member's journals can still be read, record by record.
func (w *testbed) wantReadable(name string) {
	w.t.Helper()
	w.withVault(name, "test", func(v *vault.Disk) {
		open, lost, err := v.Open()
		if err != nil || len(open) == 0 || len(lost) > 0 {
			w.t.Fatalf("%s: %d open, %d lost, %v", name, len(open), len(lost), err)
		}
		records := 0
		for _, s := range open {
			body, err := s.Get(vault.Proposal)
			if err == nil {
				_, err = control.DecodeProposal(body)
			}
			if err != nil || s.Created().IsZero() {
				w.t.Errorf("%s: %v", name, err)
			}
			for _, err := range s.Records() {
				if records++; err != nil {
					w.t.Errorf("%s: %v", name, err)
				}
			}
		}
		if records < 2 {
			w.t.Errorf("%s: %d records", name, records)
		}
	})
}

func (w *testbed) withVault(name, build string, look func(*vault.Disk)) {
	w.t.Helper()
	v, err := vault.OpenDisk(filepath.Join(w.home(name), "vault"), build)
	if err != nil {
		w.t.Fatal(err)
	}
	look(v)
	if err := v.Close(); err != nil && !strings.Contains(err.Error(), "closed") {
		w.t.Error(err)
	}
}
