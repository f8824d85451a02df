package release

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func state(t *testing.T, l Ledger) map[string]State {
	t.Helper()
	list, err := l.Read()
	if err != nil {
		t.Fatal(err)
	}
	states := make(map[string]State)
	for _, e := range list {
		states[e.ID] = e.State
	}
	return states
}

func TestLedger(t *testing.T) {
	l := Ledger(filepath.Join(t.TempDir(), "releases"))
	first, other := products(table(6, "age", "income"), "hub"), products(table(6, "age"), "hub")
	if len(state(t, l)) != 0 {
		t.Error("an empty ledger holds something")
	}
	for range 2 { // the same again passes
		if err := l.Admit(first); err != nil {
			t.Fatal(err)
		}
	}
	var held *HeldError
	for range 2 {
		if err := l.Admit(other); !errors.As(err, &held) || held.ID != other.ID() || held.Earlier != "job" || !strings.Contains(err.Error(), `column "income"`) || strings.Contains(held.Public(), "income") {
			t.Fatalf("error %v", err)
		}
	}
	if d := cmp.Diff(map[string]State{first.ID(): Released, other.ID(): Held}, state(t, l)); d != "" {
		t.Error(d)
	}
	if err := l.Approve("0123456789abcdef"); !errors.Is(err, ErrNotHeld) {
		t.Errorf("approving nothing: %v", err)
	}
	if err := l.Approve(other.ID()); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]State{first.ID(): Released, other.ID(): Approved}, state(t, l)); d != "" {
		t.Error(d)
	}
	if err := l.Admit(other); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]State{first.ID(): Released, other.ID(): Released}, state(t, l)); d != "" {
		t.Error(d)
	}
	// An approval is of one release: a third is held again.
	if err := l.Admit(products(table(6, "income"), "hub")); !errors.As(err, &held) {
		t.Errorf("error %v", err)
	}
	list, err := l.Read()
	if i := slices.IndexFunc(list, func(e Entry) bool { return e.State == Held }); err != nil || i < 0 || len(list[i].Reveals) == 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Whatever a column is called, the ledger can be read afterwards.
func TestLongNames(t *testing.T) {
	l := Ledger(t.TempDir())
	long := strings.Repeat("é", 40_000)
	if err := l.Admit(products(table(3, "age", long), "hub")); err != nil {
		t.Fatal(err)
	}
	list, err := l.Read()
	if err != nil || len(list) != 1 || len(list[0].Columns) != 2 || list[0].Columns[1].Name != long {
		t.Errorf("%d releases, %v", len(list), err)
	}
}

// A damaged ledger lets nothing out.
func TestDamagedLedger(t *testing.T) {
	l := Ledger(t.TempDir())
	r := products(table(4, "age"), "hub")
	if err := l.Admit(r); err != nil {
		t.Fatal(err)
	}
	path := l.path(r.ID(), Released)
	if err := os.WriteFile(path, r.Encode()[1:], 0o600); err != nil {
		t.Fatal(err)
	}
	err := l.Admit(products(table(4, "age", "income"), "hub"))
	var held *HeldError
	if err == nil || errors.As(err, &held) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	other := products(table(4, "wealth"), "hub")
	if err := os.WriteFile(path, other.Encode(), 0o600); err != nil { // another one under this name
		t.Fatal(err)
	}
	if _, err := l.Read(); err == nil {
		t.Error("a file that holds another release is read")
	}
}

// Of releases that all differ from each other and are admitted at once, by
// several ledgers of one folder, one passes and the others are held.
func TestAdmitAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "releases")
	const jobs = 8
	failed := make([]error, jobs)
	var ready, done sync.WaitGroup
	ready.Add(jobs)
	for i := range jobs {
		r := products(table(6, "age", fmt.Sprint("column", i)), "hub")
		done.Go(func() {
			ready.Done()
			ready.Wait()
			failed[i] = Ledger(dir).Admit(r)
		})
	}
	done.Wait()
	passed := 0
	for _, err := range failed {
		var held *HeldError
		switch {
		case err == nil:
			passed++
		case !errors.As(err, &held):
			t.Error(err)
		}
	}
	if passed != 1 {
		t.Errorf("%d of %d releases that differ passed, want 1", passed, jobs)
	}
	count := make(map[State]int)
	for _, s := range state(t, Ledger(dir)) {
		count[s]++
	}
	if d := cmp.Diff(map[State]int{Released: 1, Held: jobs - 1}, count); d != "" {
		t.Error(d)
	}
}
