package disclosure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	os.Exit(m.Run())
}

func states(t *testing.T, l Ledger) map[string]State {
	t.Helper()
	list, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]State)
	for _, e := range list {
		states[e.ID] = e.State
	}
	return states
}

// agree is the decision of an operator who approves or withdraws any release.
func agree(Listed) error { return nil }

func admit(t *testing.T, l Ledger, r method.Release) string {
	t.Helper()
	id, err := l.Admit(Asker{}, r, 0)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// letOut admits a release and records it as disclosed.
func letOut(t *testing.T, l Ledger, r method.Release) string {
	t.Helper()
	id := admit(t, l, r)
	if err := l.Release(r.Kind, id); err != nil {
		t.Fatal(err)
	}
	return id
}

// whyHeld returns the sentences of a held release, nil for one that passes.
func whyHeld(t *testing.T, err error) []string {
	t.Helper()
	var held *HeldError
	if err != nil && !errors.As(err, &held) {
		t.Fatal(err)
	}
	if held == nil {
		return nil
	}
	return held.Reveals
}

func mustHold(t *testing.T, l Ledger, r method.Release, want string) string {
	t.Helper()
	id, err := l.Admit(Asker{}, r, 0)
	said := strings.Join(whyHeld(t, err), "; ")
	if said == "" || !strings.Contains(said, want) {
		t.Errorf("held because %q, want %q", said, want)
	}
	return id
}

func TestLedger(t *testing.T) {
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	first, other := products(table(6, "age", "income"), "hub"), products(table(6, "age"), "hub")
	if empty, err := l.Empty(); !empty || err != nil || len(states(t, l)) != 0 {
		t.Error("an empty ledger holds something")
	}
	var one string
	for range 2 { // the same again passes
		one = letOut(t, l, first)
	}
	if empty, err := l.Empty(); empty || err != nil {
		t.Errorf("a ledger with a release is empty, %v", err)
	}
	var two string
	for range 2 {
		_, err := l.Admit(Asker{}, other, 0)
		var held *HeldError
		if !errors.As(err, &held) || !slices.Equal(held.Earlier, []string{"job"}) || !strings.Contains(err.Error(), `column "income"`) || strings.Contains(held.Public(), "income") {
			t.Fatalf("error %v", err)
		}
		two = held.ID
	}
	want := func(state State) {
		t.Helper()
		all := map[string]State{one: Released, two: state}
		if state == "" {
			delete(all, two)
		}
		if d := cmp.Diff(all, states(t, l)); d != "" {
			t.Error(d)
		}
	}
	want(Held)
	if err := l.Approve("0123456789abcdef", agree); !errors.Is(err, ErrNotHeld) {
		t.Errorf("approving nothing: %v", err)
	}
	approve := func() {
		t.Helper()
		if err := l.Approve(two, agree); err != nil {
			t.Fatal(err)
		}
		want(Approved)
	}
	approve()
	// The operator can withdraw an approval, and a release that awaits one.
	if err := l.Withdraw(two, agree); err != nil {
		t.Fatal(err)
	}
	want("")
	mustHold(t, l, other, "income")
	approve()
	// An approval stays in force until the release is made, however sessions end before.
	for range 3 {
		admit(t, l, other)
		if err := l.Abandon(other.Kind, two); err != nil {
			t.Fatal(err)
		}
		want(Approved)
	}
	letOut(t, l, other)
	want(Released)
	// The list says of the approved release, and of no other, what it reveals together with earlier ones.
	list, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if approved := e.ID == two; approved != strings.Contains(strings.Join(e.Reveals, ";"), "income") || approved != (len(e.From) > 0) {
			t.Errorf("%s reveals %q beside %v", e.ID, e.Reveals, e.From)
		}
	}
	admit(t, l, other)
	if err := l.Withdraw(two, agree); !errors.Is(err, ErrNotThere) {
		t.Errorf("withdrawing what is out: %v", err)
	}
	// An approval is for one release. A third release awaits another one.
	mustHold(t, l, products(table(6, "income"), "hub"), "age")
}

// A release that awaits approval has the jobs that have asked for it. AskedBy finds a person who may have submitted one of
// them. A job without a known submitter may be anybody's.
func TestWhoAsksForARelease(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(6, "age", "income"), "hub"))
	r := products(table(6, "age"), "hub")
	user := func(uid int) access.Person { return access.Person{Member: "hub", UID: &uid} }
	ask := func(job string, submitter access.Person) (n Listed) {
		t.Helper()
		var held *HeldError
		id, err := l.Admit(Asker{job, submitter}, r, 0)
		if !errors.As(err, &held) {
			t.Fatal(err)
		}
		if err := l.Approve(id, func(now Listed) error { n = now; return errNotNow }); !errors.Is(err, errNotNow) {
			t.Fatal(err)
		}
		return n
	}
	own := func(n Listed, uid int, job string) bool {
		t.Helper()
		asker, own := n.AskedBy(user(uid))
		if asker.Job != job || n.Table != "people" || n.State != Held {
			t.Errorf("user %d: %+v of %+v, want job %s", uid, asker, n, job)
		}
		return own
	}
	if n := ask("a", user(1)); !own(n, 1, "a") || own(n, 2, "a") {
		t.Errorf("%+v", n)
	}
	n := ask("b", user(2)) // the first one's job would have the same approval
	if !own(n, 1, "a") || !own(n, 2, "b") || own(n, 3, "b") {
		t.Errorf("%+v", n)
	}
	if n := ask("b", access.Person{}); !own(n, 3, "b") || !own(n, 1, "b") {
		t.Errorf("somebody unknown asks: %+v", n)
	}
	ask("b", user(2))
	for i := range maxAskers {
		n = ask(fmt.Sprint("c", i), user(4))
	}
	if len(n.Askers) != maxAskers || !own(n, 3, "") {
		t.Errorf("what is forgotten is unknown: %+v", n.Askers)
	}
	if _, own := (Listed{}).AskedBy(user(3)); !own {
		t.Error("a release for which nobody has asked")
	}
	if err := l.Approve(n.ID, agree); err != nil || states(t, l)[n.ID] != Approved {
		t.Errorf("%v", err)
	}
}

var errNotNow = errors.New("not now")

// Notes of earlier versions have no askers. Anybody may have asked for their releases.
func TestOldNotesHaveNoAsker(t *testing.T) {
	now := Listed{Kind: method.ReleaseProducts, Job: "job", Peers: []string{"hub"}, Since: time.Unix(1, 0), Table: "people", Askers: []Asker{{Job: "a", Submitter: access.Person{Member: "hub"}}}}
	var w wire.Writer
	w.String(noteWithMagic)
	writeEarlier(&w, nil)
	w.Uint32(0)
	w.String(now.Table)
	w.Uint32(1)
	w.String("a")
	now.Askers[0].Submitter.Write(&w)
	rest, found := bytes.CutPrefix(now.encode(), w.Bytes())
	if !found {
		t.Fatal("the format has changed")
	}
	var old wire.Writer
	old.String(noteFromMagic)
	n, err := decodeNote(append(old.Bytes(), rest...))
	if err != nil || len(n.Askers) != 1 || n.Askers[0].Submitter.Member != "" || n.Job != "job" || n.Table != "" {
		t.Errorf("%+v, %v", n, err)
	}
}

// A release that a session was admitted and has not disclosed does not count once the session has
// ended; while it runs, it does.
func TestAbandoned(t *testing.T) {
	l := Ledger(t.TempDir())
	r, other := products(table(6, "age", "income"), "hub"), products(table(6, "age"), "hub")
	id := admit(t, l, r)
	mustHold(t, l, other, "income")
	if err := l.Abandon(r.Kind, id); err != nil {
		t.Fatal(err)
	}
	admit(t, l, other)
	if err := l.Restart(func(string) bool { return false }); err != nil { // a crash before anything was sent
		t.Fatal(err)
	}
	letOut(t, l, r)
	if err := l.Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(r.Kind, id); err != nil { // the same message is sent again
		t.Fatal(err)
	}
	mustHold(t, l, other, "income")
}

// A column may have any name: the ledger can be read afterwards.
func TestLongNames(t *testing.T) {
	l := Ledger(t.TempDir())
	long := strings.Repeat("é", 40_000)
	letOut(t, l, products(table(3, "age", long), "hub"))
	mustHold(t, l, products(table(3, "age"), "hub"), "ééé...")
	list, err := l.List()
	if err != nil || len(list) != 2 || list[0].Columns != 2 {
		t.Errorf("%d releases, %v", len(list), err)
	}
}

// A damaged ledger, one without its key, and one of an older version admit nothing.
func TestDamagedLedger(t *testing.T) {
	r, later := products(table(4, "age"), "hub"), products(table(4, "age", "income"), "hub")
	for name, c := range map[string]struct {
		damage func(l Ledger, path string) error
		want   string
	}{
		"cut short":   {func(_ Ledger, path string) error { return os.WriteFile(path, newEntry(testKey, r).Encode()[1:], 0o600) }, "restore it from a backup"},
		"another one": {func(_ Ledger, path string) error { return os.WriteFile(path, newEntry(testKey, later).Encode(), 0o600) }, "does not match its file name"},
		"no key":      {func(l Ledger, _ string) error { return os.Remove(filepath.Join(string(l), keyName)) }, "key is missing"},
		"a short key": {func(l Ledger, _ string) error { return os.WriteFile(filepath.Join(string(l), keyName), nil, 0o600) }, "0 bytes instead of 32"},
		"older version": {func(l Ledger, _ string) error {
			return os.WriteFile(filepath.Join(string(l), "0123456789abcdef.released"), []byte("mercer/v1/release"), 0o600)
		}, "has an old format"},
	} {
		l := Ledger(t.TempDir())
		id := letOut(t, l, r)
		if err := c.damage(l, l.entry(r.Kind, id, Released)); err != nil {
			t.Fatal(err)
		}
		_, err := l.Admit(Asker{}, later, 0)
		var held *HeldError
		if err == nil || errors.As(err, &held) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// If several ledgers of one folder admit releases at once that all differ from each other, one passes
// and the others are held.
func TestAdmitAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "releases")
	const jobs = 4
	failed := make([]error, jobs)
	var ready, done sync.WaitGroup
	ready.Add(jobs)
	for i := range jobs {
		r := products(table(6, "age", fmt.Sprint("column", i)), "hub")
		done.Go(func() {
			ready.Done()
			ready.Wait()
			_, failed[i] = Ledger(dir).Admit(Asker{}, r, 0)
		})
	}
	done.Wait()
	count := make(map[State]int)
	for _, err := range failed {
		whyHeld(t, err)
	}
	for _, s := range states(t, Ledger(dir)) {
		count[s]++
	}
	if d := cmp.Diff(map[State]int{Admitted: 1, Held: jobs - 1}, count); d != "" {
		t.Error(d)
	}
}

// Notes about approvals, and about releases that await one, end after 30 days.
func TestOldNotes(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(6, "age", "income"), "hub"))
	other := products(table(6, "age"), "hub")
	id := mustHold(t, l, other, "income")
	if err := l.Approve(id, agree); err != nil {
		t.Fatal(err)
	}
	n, err := l.find(id, Approved)
	if err != nil {
		t.Fatal(err)
	}
	n.Since = time.Now().Add(-noteKept - time.Minute)
	if err := l.write(l.note(id, Approved), n.encode()); err != nil {
		t.Fatal(err)
	}
	mustHold(t, l, other, "income")
}

// The ledger merges releases of encoded rows that only add rows.
func TestRowsGrow(t *testing.T) {
	l := Ledger(t.TempDir())
	for rows := range 50 {
		letOut(t, l, of(method.ReleaseRows, table(rows+1, "age", "income")))
	}
	list, err := l.List()
	if err != nil || len(list) != 1 || list[0].Rows != 50 {
		t.Errorf("%+v, %v; want one release of 50 rows", list, err)
	}
	mustHold(t, l, of(method.ReleaseRows, edited(table(6, "age", "income"), 5, 0)), "1 row has other values")
}

// After a restore, releases that were admitted at the time of the backup count as made, also once the daemon
// has started.
func TestReleaseAdmitted(t *testing.T) {
	l := Ledger(t.TempDir())
	admit(t, l, products(table(6, "age", "income"), "hub"))
	for range 2 {
		if err := l.ReleaseAdmitted(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Restart(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	mustHold(t, l, products(table(6, "age"), "hub"), "income")
}

// A withdrawal asks about the release as it is, and withdraws nothing after a no. A crash between the two notes of an
// approval leaves no approval behind.
func TestWithdrawIsDecided(t *testing.T) {
	l := Ledger(t.TempDir())
	letOut(t, l, products(table(6, "age", "income"), "hub"))
	id := mustHold(t, l, products(table(6, "age"), "hub"), "income")
	refused := func(want State) {
		t.Helper()
		var asked Listed
		if err := l.Withdraw(id, func(n Listed) error { asked = n; return errNotNow }); !errors.Is(err, errNotNow) {
			t.Error(err)
		}
		if asked.ID != id || asked.State != want || states(t, l)[id] != want {
			t.Errorf("%+v is asked about, and the ledger has %v", asked, states(t, l))
		}
	}
	refused(Held)
	held := disktest.Read(t, l.note(id, Held))
	if err := l.Approve(id, agree); err != nil {
		t.Fatal(err)
	}
	refused(Approved)
	disktest.Write(t, l.note(id, Held), held)
	var asked Listed
	if err := l.Withdraw(id, func(n Listed) error { asked = n; return nil }); err != nil || asked.State != Approved {
		t.Fatalf("%v, asked about a release that is %q", err, asked.State)
	}
	if s, known := states(t, l)[id]; known {
		t.Errorf("a withdrawn release is %s", s)
	}
	mustHold(t, l, products(table(6, "age"), "hub"), "income")
	called := false
	if err := l.Withdraw("0123456789abcdef", func(Listed) error { called = true; return nil }); !errors.Is(err, ErrNotThere) || called {
		t.Errorf("no release: %v, asked %t", err, called)
	}
}

// A ledger that cannot be read does not say that it has no such release.
func TestWithdrawFromAnUnreadableLedger(t *testing.T) {
	l := Ledger(t.TempDir())
	id := strings.Repeat("ab", 8)
	if err := os.Mkdir(l.note(id, Held), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Withdraw(id, agree); err == nil || errors.Is(err, ErrNotThere) {
		t.Errorf("%v", err)
	}
}
