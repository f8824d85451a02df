package coordinator_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
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
// confirmed.
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
		info, err := os.Stat(log)
		if err == nil {
			err = os.Truncate(log, info.Size()/2)
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

// losesTheSession runs a job in which a member dies, and comes back without the end of its journal. The job ends before
// any timer, and all learn who has lost its journal.
func (w *testbed) losesTheSession(j *job.Job, d death) {
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
	w.start(d.name, never)
	f := w.waitFor(id, time.Minute).Failure
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

// A member whose journal is not whole does not go on, whatever it had sent: the job ends as an attempt at each party,
// and names the member.
func TestLostJournalOfSealed(t *testing.T) {
	t.Parallel()
	for _, parties := range []string{"[north, south, east, west]", "[north, south]"} { // west holds no piece; without it, the coordinator deals
		j := patient(t, parties)
		shares := firstTumours(t, j, 569)
		bed := func(t *testing.T) (*testbed, *job.Job) { return newTestbed(t, shares).lets(j), j }
		for _, d := range deathsOfSealed(t, bed) {
			if len(j.Parties()) == 2 && d.name != hub {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", d.name, d.op), func(t *testing.T) {
				t.Parallel()
				w, j := bed(t)
				w.losesTheSession(j, d)
				for _, party := range j.Parties() {
					if n := w.models(party); n != 1 {
						t.Errorf("%s counts %d models", party, n)
					}
				}
			})
		}
	}
}

// After a lost journal the job may be submitted again. It draws other directions, 16 of which move one row in 20 at most.
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
	for _, d := range []death{{"north", 1, "send sealed/Coins"}, {"east", 1, "send sealed/Contribution"}, {"south", 1, "send sealed/Part"}} {
		w.losesTheSession(j, d)
	}
	w.mustHold("a fourth attempt", j)
}
