package coordinator_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	sealedmethod "github.com/mercer-fl/mercer/internal/method/sealed"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// deathsOfSealed runs a job undisturbed, and returns deaths before the first message of each kind in the session of
// protocol sealed: of a member that sends this kind, another one for each kind. The slow tests take all members.
func deathsOfSealed(t *testing.T, of func(t *testing.T) (*testbed, *job.Job)) (list []death) {
	t.Helper()
	ops, _ := crashing{testbed: of, patience: time.Minute}.operations(t)
	senders := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		for _, op := range ops[name] {
			if strings.HasPrefix(op, "send sealed/") && !slices.Contains(senders[op], name) {
				senders[op] = append(senders[op], name)
			}
		}
	}
	for i, op := range slices.Sorted(maps.Keys(senders)) {
		names := senders[op]
		at := i % len(names)
		for _, name := range tried(slices.Concat(names[at:], names[:at])) {
			list = append(list, death{name, 1, op})
		}
	}
	return list
}

// losesJournal cuts off the end of the journal of a member's session of a protocol, as a disk that loses what it has
// confirmed. The header stays: without it no session begins anew.
func (w *testbed) losesJournal(name, protocol string) {
	w.t.Helper()
	lost := 0
	for _, folder := range w.sessionFolders(name) {
		b, err := os.ReadFile(filepath.Join(folder, "proposal"))
		if err != nil {
			w.t.Fatal(err)
		}
		p, err := control.DecodeProposal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		if p.Descriptor.Protocol != protocol {
			continue
		}
		log := filepath.Join(w.home(name), "vault", "journals", "session", filepath.Base(folder), "log")
		data, err := os.ReadFile(log)
		if err == nil {
			err = os.Truncate(log, int64(rest(data)))
		}
		if err != nil {
			w.t.Fatal(err)
		}
		lost++
	}
	if lost != 1 {
		w.t.Fatalf("%s has %d sessions of %s", name, lost, protocol)
	}
}

// rest returns the bytes that are left of a log: half of it, or of a short one the header alone.
func rest(log []byte) int {
	const magic, seal = 16, 12 + 16 // and two bytes for the header's length
	if len(log) > 8<<10 {
		return len(log) / 2
	}
	return magic + 2 + int(binary.LittleEndian.Uint16(log[magic:])) + seal
}

// sessionFolders are the folders of a member's open sessions.
func (w *testbed) sessionFolders(name string) []string {
	w.t.Helper()
	folders, err := filepath.Glob(filepath.Join(w.home(name), "vault", "documents", "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	return folders
}

// patient is a job by protocol sealed whose timers do not expire in a test.
func patient(t *testing.T, parties string) *job.Job {
	t.Helper()
	j := sealedJob(t, parties)
	j.Timeout.Round, j.Timeout.Join = time.Hour, time.Hour
	return j
}

// losesAJournal runs a job in which a member dies, and comes back without the end of its journal. It waits until the
// job ends, before any timer.
func (w *testbed) losesAJournal(j *job.Job, d death) coordinator.Job {
	w.t.Helper()
	id := w.leavesAPart(j, d)
	w.start(d.name, never)
	return w.waitFor(id, time.Minute)
}

// leavesAPart runs a job in which a member dies, whose journal then loses its end.
func (w *testbed) leavesAPart(j *job.Job, d death) job.ID {
	w.t.Helper()
	for _, name := range w.dead() {
		w.halt(name)
	}
	w.halt(d.name)
	w.dies(d)
	w.startAll()
	id := w.submit(j)
	w.untilDead(d.name)
	w.losesJournal(d.name, sealed.Name)
	return id
}

// losesTheSession runs such a job that fails, and all learn who has lost its journal.
func (w *testbed) losesTheSession(j *job.Job, d death) {
	w.t.Helper()
	f := w.losesAJournal(j, d).Failure
	if f == nil || f.Code != fault.CodeFailed || !strings.Contains(f.Told, d.name) || !strings.Contains(f.Told, "lost its journal of the session; submit the job again") {
		w.t.Errorf("failure %+v", f)
	}
	for _, m := range w.roster.Members {
		if open := w.sessionFolders(m.Name); len(open) > 0 {
			w.t.Errorf("%s still has %d sessions", m.Name, len(open))
		}
	}
}

// models counts the models that a party's ledger has of its rows.
func (w *testbed) models(party string) (n int) {
	w.t.Helper()
	list, err := w.releases(party).List()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range list {
		if r.Kind == method.ReleaseModels && r.State == disclosure.Released {
			n += r.Uses
		}
	}
	return n
}

// beginsAnew reports whether a session goes on although a member loses its journal: a keeper that has not shown its
// coins.
func beginsAnew(d death, j *job.Job) bool {
	kind := strings.TrimPrefix(d.op, "send sealed/")
	keeper := slices.Contains(job.As[*sealedmethod.Keys](j.Protocol).Keepers, d.name) || d.name == hub
	return keeper && slices.Contains([]string{"Upload", "Masked", "Contribution", "Inputs", "Opening", "Dealing", "Taken", "MaskedWeights"}, kind)
}

// opensAnew runs a job in which a keeper loses its journal and begins its session anew. All parties predict as in an
// undisturbed job, with weights of other last bits.
func (w *testbed) opensAnew(j *job.Job, d death, want *method.Prediction) {
	w.t.Helper()
	done := w.losesAJournal(j, d)
	if done.Failure != nil {
		w.t.Fatalf("%+v", done.Failure)
	}
	for _, got := range w.answersOf(done.ID, j.Parties()) {
		if !slices.Equal(got.Predicted, want.Predicted) {
			w.t.Error("other predictions than undisturbed")
		}
		for i, v := range got.Decisions.Data {
			if math.Abs(v-want.Decisions.Data[i]) > 1e-4 {
				w.t.Errorf("decision %d is %g, undisturbed %g", i, v, want.Decisions.Data[i])
			}
		}
	}
}

// A keeper whose journal is lost before it shows its coins begins the session anew, and the job goes on. Any other
// member whose journal is not whole does not go on, whatever it had sent: the job ends as an attempt at each party, and
// names the member.
func TestLostJournalOfSealed(t *testing.T) {
	t.Parallel()
	for _, parties := range []string{"[north, south, east, west]", "[north, south]"} { // west holds no piece; without it, the coordinator deals
		j := patient(t, parties)
		shares := firstTumours(t, j, 569)
		bed := func(t *testing.T) (*testbed, *job.Job) { return newTestbed(t, shares).lets(j), j }
		undisturbed, _ := bed(t)
		want := undisturbed.answersOf(undisturbed.mustRun(j).ID, j.Parties())[0]
		for _, d := range deathsOfSealed(t, bed) {
			if len(j.Parties()) == 2 && d.name != hub || d.op == "send sealed/Commitments" { // before which a keeper may have claimed its coins, or not
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", d.name, d.op), func(t *testing.T) {
				t.Parallel()
				w, j := bed(t)
				if beginsAnew(d, j) {
					w.opensAnew(j, d, want)
				} else {
					w.losesTheSession(j, d)
				}
				for _, party := range j.Parties() {
					if n := w.models(party); n != 1 {
						t.Errorf("%s counts %d models", party, n)
					}
				}
			})
		}
	}
}

// A keeper that has begun anew and dies again, with a whole journal, replays that one.
func TestCrashAfterALostJournal(t *testing.T) {
	t.Parallel()
	j := patient(t, "[north, south]")
	shares := firstTumours(t, j, 569)
	undisturbed := newTestbed(t, shares).lets(j)
	want := undisturbed.answersOf(undisturbed.mustRun(j).ID, j.Parties())[0]
	for _, name := range []string{"south", hub} {
		w := newTestbed(t, shares).lets(j)
		id := w.leavesAPart(j, death{name, 1, "send sealed/Inputs"})
		w.start(name, onThe(1, "send sealed/Commitments"))
		w.untilDead(name)
		w.start(name, never)
		if done := w.waitFor(id, time.Minute); done.Failure != nil {
			t.Fatalf("%s: %+v", name, done.Failure)
		}
		for _, got := range w.answersOf(id, j.Parties()) {
			if !slices.Equal(got.Predicted, want.Predicted) {
				t.Errorf("%s: other predictions than undisturbed", name)
			}
		}
	}
}

// With privacy a keeper that begins anew repeats its noise: the budget pays once.
func TestALostJournalPaysOnce(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("[north, south, east]", "[north, south]", "{name: okra}", `{name: sealed, features: 4, classes: ["0", "1"], privacy: {epsilon: 8, delta: 1.0e-6}}`,
		"{name: svc, C: 10, tol: 1.0e-8}", "{name: ridge-classifier}", "label: label", "label: label\n    features: 30\n    scale: none", "20s", "1h").Replace(fmt.Sprintf(jobFile, ""))
	j := jobtest.Parse(t, text)
	shares := firstTumours(t, j, 569)
	for _, name := range []string{"south", hub} { // which adds noise, too
		w := newTestbed(t, shares).lets(j)
		w.policy.Privacy = privacy.Guarantee{Epsilon: 9, Delta: 1e-6}
		if done := w.losesAJournal(j, death{name, 1, "send sealed/Inputs"}); done.Failure != nil {
			t.Fatalf("%s: %+v", name, done.Failure)
		}
		for _, party := range j.Parties() {
			if list := w.spent(party); len(list) != 1 || list[0].State != disclosure.Released || list[0].Epsilon != 8 {
				t.Errorf("%s: %s has spent %+v", name, party, list)
			}
		}
	}
}

// A keeper begins its session anew only over the same sums: the others would see by what they differ. Of other sums it
// sends nothing. (Of other rows the ledger stops it before. So here the hash changes that it has stored of its sums.)
func TestLostJournalAndOtherRows(t *testing.T) {
	t.Parallel()
	j := patient(t, "[north, south, east]")
	w := newTestbed(t, firstTumours(t, j, 569)).lets(j)
	id := w.leavesAPart(j, death{"south", 1, "send sealed/Opening"})
	before := len(w.tap.all())
	for _, folder := range w.sessionFolders("south") {
		path := filepath.Join(folder, string(vault.Renewal))
		if stored, err := os.ReadFile(path); err == nil {
			stored[0] ^= 1
			if err := os.WriteFile(path, stored, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.start("south", never)
	f := w.waitFor(id, time.Minute).Failure
	if f == nil || !strings.Contains(f.Message, "south") || !strings.Contains(f.Message, "its data has changed since this session began") {
		t.Errorf("failure %+v", f)
	}
	for _, r := range w.tap.all()[before:] {
		if h := header(t, r.data); r.from == "south" && h.Protocol == sealed.Name {
			t.Errorf("south sent %v", h)
		}
	}
}

// A keeper that begins its session anew without the members' keys, as its disk has lost these, too, says so at once.
func TestLostJournalAndDirectory(t *testing.T) {
	t.Parallel()
	j := patient(t, "[north, south, east]")
	w := newTestbed(t, firstTumours(t, j, 569)).lets(j)
	id := w.leavesAPart(j, death{"south", 1, "send sealed/Opening"})
	for _, folder := range w.sessionFolders("south") {
		if _, err := os.Stat(filepath.Join(folder, string(vault.Renewal))); err != nil {
			continue
		}
		if err := os.Remove(filepath.Join(folder, string(vault.Directory))); err != nil {
			t.Fatal(err)
		}
	}
	w.start("south", never)
	if f := w.waitFor(id, 20*time.Second).Failure; f == nil || !strings.Contains(f.Message, "south") || !strings.Contains(f.Message, "lost its journal") {
		t.Errorf("failure %+v", f)
	}
}

// After a lost journal the job may be submitted again. It draws other directions, 16 of which move one row in 20 at
// most.
func TestSealedAgainAfterALostJournal(t *testing.T) {
	t.Parallel()
	j := patient(t, "[north, south, east]")
	shares := firstTumours(t, j, 569)
	w := newTestbed(t, shares).lets(j)
	want := w.answersOf(w.mustRun(j).ID, j.Parties())[0]
	w = newTestbed(t, shares).lets(j)
	w.losesTheSession(j, death{"south", 1, "send sealed/Range"})
	for _, got := range w.answersOf(w.mustRun(j).ID, j.Parties()) {
		differ := 0
		for i, class := range got.Predicted {
			if class != want.Predicted[i] {
				differ++
			}
		}
		if differ > 1 {
			t.Errorf("%d of %d predictions differ from the undisturbed job's", differ, len(want.Predicted))
		}
		if slices.Equal(got.Decisions.Data, want.Decisions.Data) {
			t.Error("the model is the one that was lost")
		}
	}
}

// Three lost journals are three attempts: the parties' ledgers hold the fourth job.
func TestLostJournalsCount(t *testing.T) {
	t.Parallel()
	j := patient(t, "[north, south, east]")
	w := newTestbed(t, firstTumours(t, j, 569)).lets(j)
	for _, d := range []death{{"north", 1, "send sealed/Coins"}, {"east", 1, "send sealed/Claims"}, {"south", 1, "send sealed/Part"}} {
		w.losesTheSession(j, d)
	}
	w.mustHold("a fourth attempt", j)
}
