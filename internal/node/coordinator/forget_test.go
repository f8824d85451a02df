package coordinator_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// stays are the files that may outlive a forgotten job: its file, status and result;
// that its sessions and its id were used; and what releases must be compared with.
var stays = regexp.MustCompile(`^(hub/jobs/[0-9a-f]{32}/(job\.yaml|status\.json|result\.json)|[a-z0-9-]+/(vault/(claims|journals/(lock|used/[0-9a-f]{64}|session/[0-9a-f]{64}/tombstone))|releases/.*))$`)

// everything that members hold of a job, in the clear, cut into needles. It opens the
// sealed files with their identities, as only they can.
func (w *testbed) holdings(id job.ID) (needles []needle) {
	w.t.Helper()
	for _, m := range w.roster.Members {
		items, err := w.artifacts(m.Name).List(id)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, item := range items {
			secret, err := w.artifacts(m.Name).Get(id, item)
			if err != nil {
				w.t.Fatal(err)
			}
			if item == vault.Figures {
				secret = w.unlikeTheHub(secret)
			}
			needles = append(needles, cutUp(m.Name+"'s "+string(item), secret)...)
			sealed, err := os.ReadFile(filepath.Join(w.home(m.Name), "keepsakes", id.String(), string(item)))
			if err != nil {
				w.t.Fatal(err)
			}
			needles = append(needles, cutUp("sealed: "+m.Name+"'s "+string(item), sealed[48:])...)
		}
	}
	return needles
}

// unlikeTheHub takes the statement of leakage and the job file out of a party's figures: the
// coordinator has both.
func (w *testbed) unlikeTheHub(figures []byte) []byte {
	var own method.Judged
	if err := json.Unmarshal(figures, &own); err != nil {
		w.t.Fatal(err)
	}
	own.Result.Leakage, own.Result.Exposures, own.Result.About = nil, nil, nil
	left, err := json.Marshal(own)
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}

// cutUp takes 24 bytes of every 64, but those that anything else may hold as well.
func cutUp(name string, b []byte) (list []needle) {
	const size = 24
	for at := 0; at+size <= len(b); at += 64 {
		if piece := b[at : at+size]; bytes.Count(piece, piece[:1]) < size/2 {
			list = append(list, needle{name, piece})
		}
	}
	return list
}

// An attacker who gets hold of all the disks after a job has been forgotten, with every
// identity, finds neither model nor decisions, neither an alignment nor a
// recommendation, neither a row nor an encoder: in no file under any home.
func TestForgottenJobsLeaveNothing(t *testing.T) {
	t.Parallel()
	sums := moments(t, ", directions: 4", "  prediction: open\n")
	okra := parse(t, "  prediction: open\n")
	phased := opened(t, phases(t, "{join: 20s, round: 20s}"))
	products := opened(t, columns(t))
	cinema, films, _ := newCinema(t)
	for _, tt := range []struct {
		name string
		job  *job.Job
		w    *testbed
		at   map[vault.Item]int // members that hold each item before
	}{
		{"okra", okra, newTestbed(t, tumours(t, okra)), map[vault.Item]int{vault.Model: 1, vault.Answers: 1, vault.Decisions: 1, vault.Predictor: 3}},
		{"moments", sums, newTestbed(t, firstTumours(t, sums, 80)).lets(sums), map[vault.Item]int{vault.Model: 1, vault.Decisions: 1, vault.Predictor: 3}},
		{"gram", products, newTestbed(t, tumours(t, products)), map[vault.Item]int{vault.Answers: 1, vault.Decisions: 1, vault.Predictor: 3, vault.Alignment: 3}},
		{"fdskl", phased, newTestbed(t, tumours(t, phased)), map[vault.Item]int{vault.Answers: 1, vault.Decisions: 1, vault.Predictor: 3, vault.Alignment: 3, vault.Figures: 1}},
		{"fedcfk", films, cinema, map[vault.Item]int{vault.Model: 1, vault.Decisions: 1, vault.Recommendations: people}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := tt.w
			id := w.mustRun(tt.job).ID
			held := make(map[vault.Item]int)
			for _, m := range w.roster.Members {
				items, err := w.artifacts(m.Name).List(id)
				if err != nil {
					t.Fatal(err)
				}
				for _, item := range items {
					held[item]++
				}
			}
			for item, n := range tt.at {
				if held[item] != n {
					t.Errorf("%d members hold the %s, want %d", held[item], item, n)
				}
			}
			needles := w.holdings(id)
			before := w.found(needles)
			if len(before) == 0 || slices.ContainsFunc(before, func(hit string) bool {
				return !strings.HasPrefix(hit, "sealed: ") && !strings.HasSuffix(hit, "job.yaml")
			}) {
				t.Fatalf("before it is forgotten, the scan finds in clear, or nothing at all:\n%s", strings.Join(before, "\n"))
			}
			f, err := w.members[hub].boss.Forget(t.Context(), id)
			if err != nil || len(f.Silent) > 0 || len(f.Here) == 0 {
				t.Fatalf("%+v, %v", f, err)
			}
			for _, hit := range w.found(needles) {
				if strings.HasPrefix(hit, "sealed: ") || !strings.HasSuffix(hit, "job.yaml") { // which parts of models hold, too
					t.Errorf("left: %s", hit)
				}
			}
			for _, path := range w.files() {
				if !stays.MatchString(path) {
					t.Errorf("this file is left: %s", path)
				}
			}
			if _, err := w.members[hub].boss.Outcome(id); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "have been erased") {
				t.Errorf("the decisions: %v", err)
			}
		})
	}
}

// files lists all files under all homes.
func (w *testbed) files() (list []string) {
	w.t.Helper()
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		short, err := filepath.Rel(w.dir, path)
		list = append(list, filepath.ToSlash(short))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}
