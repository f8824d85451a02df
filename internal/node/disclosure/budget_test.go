package disclosure

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/privacy"
)

var eight = privacy.Guarantee{Epsilon: 8, Delta: 1e-6}

// noise is a release of a job's noise over the table of the given name.
func noise(job, table string, epsilon float64, known ...string) method.Release {
	return noiseOver(wide(20), job, table, epsilon, known...)
}

func wide(rows int) *dataset.Set { return table(rows, "age", "income") }

func noiseOver(set *dataset.Set, job, table string, epsilon float64, known ...string) method.Release {
	r := of(method.ReleaseNoise, set)
	g := privacy.Guarantee{Epsilon: epsilon, Delta: 1e-6}
	r.Job, r.Model, r.Table, r.Known = job, "model of "+job, table, known
	r.Rho, r.Epsilon, r.Delta = g.Rho(), epsilon, g.Delta
	return r
}

func reserve(t *testing.T, l Ledger, r method.Release) string {
	t.Helper()
	id, err := l.Reserve(r, eight, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func spend(t *testing.T, l Ledger, r method.Release) string {
	t.Helper()
	id := reserve(t, l, r)
	if err := l.Release(r.Kind, id); err != nil {
		t.Fatal(err)
	}
	return id
}

// overspends checks that a release exceeds a budget, that a check of the job foresees it, and that nothing is written.
func overspends(t *testing.T, l Ledger, r method.Release, budget privacy.Guarantee, recorded ...string) BudgetError {
	t.Helper()
	_, foreseen := l.Preview().Reserve(r, budget, recorded)
	_, err := l.Reserve(r, budget, recorded)
	var over *BudgetError
	if !errors.As(err, &over) {
		t.Fatalf("%s passes, %v", r.Job, err)
	}
	if foreseen == nil || foreseen.Error() != err.Error() {
		t.Errorf("%s: the check says %v, and the party %v", r.Job, foreseen, err)
	}
	list, err := l.Noisy()
	if err != nil || slices.ContainsFunc(list, func(s Spending) bool { return s.Job == r.Job }) {
		t.Errorf("%s is in the books: %+v, %v", r.Job, list, err)
	}
	return *over
}

// A job that asks for the whole budget passes, once. What its refusal says is left passes, and hardly more does not.
func TestBudget(t *testing.T) {
	l := Ledger(t.TempDir())
	if over := overspends(t, l, noise("first", "people", 1), privacy.Guarantee{}); !strings.Contains(over.Error(), "has set no privacy budget") {
		t.Error(over.Error())
	}
	if over := overspends(t, l, noise("much", "people", 8.01), eight); over.Left != 8 || !strings.Contains(over.Error(), "left one job with epsilon 8 (\"privacy\" in this party's policy)") {
		t.Error(over.Error())
	}
	spend(t, l, noise("first", "people", 3))
	spend(t, l, noise("second", "people", 3))
	over := overspends(t, l, noise("third", "people", 7.5), eight)
	if over.Left < 5 || over.Left > 7.4 || over.Asked.Epsilon != 7.5 || !strings.Contains(over.Error(), fmt.Sprintf("left one job with epsilon %g", over.Left)) {
		t.Errorf("left %g: %s", over.Left, over.Error())
	}
	overspends(t, l, noise("third", "people", over.Left+.02), eight)
	spend(t, l, noise("third", "people", over.Left))
	if over := overspends(t, l, noise("fourth", "people", 1), eight); !strings.Contains(over.Error(), "have left nothing") && over.Left >= 1 {
		t.Error(over.Error())
	}
	whole := Ledger(t.TempDir())
	spend(t, whole, noise("first", "people", 8))
	if over := overspends(t, whole, noise("second", "people", .01), eight); over.Left != 0 || !strings.Contains(over.Error(), "have left nothing") {
		t.Error(over.Error())
	}
	a, err := whole.Account("people", nil, nil)
	if err != nil || a.Spent(1e-6) > 8.0001 || a.Spent(1e-6) < 7.999 || a.Left(eight) != 0 || len(a.Spendings) != 1 || a.Spendings[0].Day == "" {
		t.Errorf("%+v, %v", a, err)
	}
}

// Each guarantee is within a budget of its own size, whatever the conversions' last bits.
func TestABudgetPaysItsOwnGuarantee(t *testing.T) {
	for epsilon := privacy.LeastEpsilon; epsilon < privacy.MostEpsilon; epsilon *= 1.7 {
		for _, delta := range []float64{privacy.LeastDelta, 1e-6, privacy.MostDelta} {
			g := privacy.Guarantee{Epsilon: epsilon, Delta: delta}
			if !suffices(g, g.Rho()) || suffices(g, g.Rho()*1.00001) {
				t.Errorf("%+v", g)
			}
		}
	}
}

// The costs of any jobs that pass together are within the budget, added up exactly.
func TestBudgetIsNeverExceeded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		l, sum, passed := Ledger(t.TempDir()), new(big.Float).SetPrec(2000), 0
		for i := range 12 {
			r := noise(fmt.Sprint("job", i), "people", .1+4*random.Float64())
			if id, err := l.Reserve(r, eight, nil); err == nil {
				sum.Add(sum, big.NewFloat(r.Rho))
				passed++
				if err := l.Release(r.Kind, id); err != nil {
					t.Fatal(err)
				}
			}
		}
		if rho, _ := sum.Float64(); passed < 2 || privacy.Epsilon(rho, 1e-6) > 8 {
			t.Errorf("%d jobs spend epsilon %g", passed, privacy.Epsilon(rho, 1e-6))
		}
	}
}

// addUp is never below the exact sum, exact where the sum has 53 bits, and at most one step above.
func TestAddUp(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	up := 0
	for range 10000 {
		a, b := math.Ldexp(random.Float64(), random.IntN(80)-40), math.Ldexp(random.Float64(), random.IntN(80)-40)
		exact := new(big.Float).SetPrec(400).Add(big.NewFloat(a), big.NewFloat(b))
		got := big.NewFloat(addUp(a, b))
		if got.Cmp(exact) < 0 || big.NewFloat(math.Nextafter(addUp(a, b), 0)).Cmp(exact) >= 0 {
			t.Fatalf("%g + %g = %g", a, b, addUp(a, b))
		}
		up += got.Cmp(exact)
	}
	if up < 1000 || addUp(0, .1) != .1 || addUp(.25, .5) != .75 {
		t.Errorf("%d of 10000 sums are rounded", up)
	}
}

// A job pays once, however often its sessions ask and are replayed; another attempt pays again. What is reserved counts
// against other jobs, and is given back if nothing was sent. What is spent is not given back.
func TestAJobPaysOnce(t *testing.T) {
	l := Ledger(t.TempDir())
	first := noise("first", "people", 6)
	id := reserve(t, l, first)
	if again := reserve(t, l, first); again != id {
		t.Error("the same job pays twice")
	}
	overspends(t, l, noise("second", "people", 6), eight)
	if err := l.Abandon(method.ReleaseNoise, id); err != nil {
		t.Fatal(err)
	}
	other := reserve(t, l, noise("second", "people", 6))
	if err := l.Restart(func(string) bool { return true }); err != nil { // a crash before anything was sent
		t.Fatal(err)
	}
	id = spend(t, l, first)
	overspends(t, l, noise("second", "people", 6), eight)
	for range 2 {
		spend(t, l, first)
	}
	for _, do := range []func() error{
		func() error { return l.Abandon(method.ReleaseNoise, id) },
		func() error { return l.Restart(func(string) bool { return false }) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Withdraw(id, agree); !errors.Is(err, ErrNotThere) {
		t.Errorf("withdrawn: %v", err)
	}
	if list, err := l.Noisy(); err != nil || len(list) != 1 || list[0].ID != id || list[0].State != Released || id == other {
		t.Errorf("%+v, %v", list, err)
	}
	attempt := first
	attempt.Job, attempt.Model = "again", "model of first, again"
	overspends(t, l, attempt, eight)
	cheaper := first
	cheaper.Job, cheaper.Rho = "cheaper", cheaper.Rho*.9
	overspends(t, l, cheaper, eight) // the same job with another cost is not what was paid
}

// A crash between two steps of a release leaves it once in the books.
func TestACrashLeavesNoiseOnce(t *testing.T) {
	l := Ledger(t.TempDir())
	first := noise("first", "people", 4)
	id := reserve(t, l, first)
	admitted, err := l.read(l.entry(method.ReleaseNoise, id, Admitted))
	if err != nil {
		t.Fatal(err)
	}
	spend(t, l, first)
	if err := l.write(l.entry(method.ReleaseNoise, id, Admitted), admitted.Encode()); err != nil { // the removal is lost
		t.Fatal(err)
	}
	a, err := l.Account("people", nil, nil)
	if err != nil || len(a.Spendings) != 1 || a.Spendings[0].State != Released || a.Spent(1e-6) > 4.0001 {
		t.Errorf("%+v, %v", a, err)
	}
}

// A table has one budget under all its names: of the catalogue, of its file, of its dictionary, and by a chain of them.
// A table that shares none of them has its own.
func TestATableUnderTwoNames(t *testing.T) {
	for name, c := range map[string]struct {
		then []method.Release
		now  method.Release
	}{
		"the same name, another file": {[]method.Release{noise("a", "people", 6, "file x")}, noise("b", "people", 6, "file y")},
		"another name of one file":    {[]method.Release{noise("a", "people", 6, "file x")}, noise("b", "patients", 6, "file x")},
		"one dictionary":              {[]method.Release{noise("a", "people", 6, "file x", "dictionary d")}, noise("b", "patients", 6, "file y", "dictionary d")},
		"renamed, then moved":         {[]method.Release{noise("a", "people", 6, "file x"), noise("c", "patients", .01, "file x")}, noise("b", "patients", 6, "file y")},
		"renamed, moved, renamed":     {[]method.Release{noise("a", "people", 6, "file x"), noise("c", "people", .01, "file y")}, noise("b", "patients", 6, "file y")},
		"more rows":                   {[]method.Release{noise("a", "people", 6)}, noiseOver(wide(30), "b", "people", 6)},
		"other columns":               {[]method.Release{noise("a", "people", 6)}, noiseOver(table(20, "weight"), "b", "people", 6)},
		"a table without a name":      {[]method.Release{noise("a", "people", 6)}, noise("b", "", 6)},
		"no name, and two tables":     {[]method.Release{noise("a", "others", .01), noise("c", "people", 6)}, noise("b", "", 6)},
		"no name, and two more":       {[]method.Release{noise("a", "others", 6), noise("c", "people", .01)}, noise("b", "", 6)},
	} {
		l := Ledger(t.TempDir())
		for _, r := range c.then {
			spend(t, l, r)
		}
		if over := overspends(t, l, c.now, eight); over.Left >= 6 {
			t.Errorf("%s: %s", name, over.Error())
		}
	}
	l := Ledger(t.TempDir())
	spend(t, l, noise("a", "people", 6, "file x", "dictionary d"))
	spend(t, l, noise("b", "others", 6, "file y", "dictionary e"))
	a, err := l.Account("patients", []string{"file x"}, nil)
	if err != nil || len(a.Spendings) != 1 || a.Spendings[0].Job != "a" || a.Spendings[0].Table != "people" {
		t.Errorf("%+v, %v", a, err)
	}
}

// Noise is held by no comparison, and holds nothing: its cost covers every difference. Whatever else was released of the
// table, or of its people under another name, is named, and so is nothing else.
func TestNoiseIsNotCompared(t *testing.T) {
	l := Ledger(t.TempDir())
	sums := letOut(t, l, of(method.ReleaseSums, wide(20)))
	spend(t, l, noiseOver(wide(19), "noisy", "people", 2))
	described := noiseOver(wide(18), "described", "people", 2)
	described.Schema = "age below 50"
	spend(t, l, described)
	letOut(t, l, of(method.ReleaseSums, wide(20)))
	renamed := products(wide(20), "hub")
	renamed.Table, renamed.Job = "renamed", "exact"
	exact := letOut(t, l, renamed)
	newcomers := letOut(t, l, products(others(wide(20)), "shop")) // of the same table
	apart := of(method.ReleaseIDs, others(wide(20)))
	apart.Table = "apart"
	letOut(t, l, apart)
	admit(t, l, of(method.ReleasePhases, wide(20))) // nothing is sent
	a, err := l.Account("people", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var voids []string
	for _, v := range a.Voids {
		voids = append(voids, v.ID)
	}
	slices.Sort(voids)
	want := []string{sums, exact, newcomers}
	slices.Sort(want)
	if !slices.Equal(voids, want) {
		t.Errorf("void are %+v, want %q", a.Voids, want)
	}
	if a, err := l.Account("apart", nil, nil); err != nil || len(a.Spendings) > 0 || len(a.Voids) != 1 {
		t.Errorf("a table without noise: %+v, %v", a, err)
	}
	list, err := l.List()
	if i := slices.IndexFunc(list, func(n Listed) bool { return n.Job == "noisy" }); err != nil || i < 0 || list[i].Epsilon != 2 || list[i].Delta != 1e-6 || list[i].Rows != 19 || list[i].Learns() == "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// A home that does not know what it has released spends nothing more, until its operator states what was.
func TestALossSpendsAllBudgets(t *testing.T) {
	l := Ledger(t.TempDir())
	paid := spend(t, l, noise("first", "people", 2))
	for range 2 {
		if id, err := l.Lose(); err != nil || id == "" {
			t.Fatal(err)
		}
	}
	for _, r := range []method.Release{noise("second", "people", .01), noise("second", "others", .01)} {
		over := overspends(t, l, r, eight)
		if !over.Unknown || !strings.Contains(over.Error(), "does not know what earlier jobs have spent") || !strings.Contains(over.Error(), "mercer budget settle") {
			t.Error(over.Error())
		}
		overspends(t, l, r, privacy.Guarantee{Epsilon: 100, Delta: .01})
	}
	if id := reserve(t, l, noise("first", "people", 2)); id != paid {
		t.Error("a session that is replayed pays again")
	}
	if list, err := l.List(); err != nil || len(list) != 1 {
		t.Errorf("a note of a loss is listed as a release: %+v, %v", list, err)
	}
	a, err := l.Account("people", nil, nil)
	if err != nil || !a.Unknown || a.Left(eight) != 0 || !math.IsInf(a.Spent(1e-6), 1) || len(a.Spendings) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	refuses := errors.New("no")
	if err := l.Settle(privacy.Guarantee{Epsilon: 3, Delta: 1e-6}, func(string) error { return refuses }); !errors.Is(err, refuses) {
		t.Errorf("settled: %v", err)
	}
	if list, err := l.Noisy(); err != nil || len(list) != 1 {
		t.Errorf("what was not stated is in the books: %+v, %v", list, err)
	}
	if err := l.Settle(privacy.Guarantee{Epsilon: -3, Delta: 1e-6}, func(string) error { return nil }); err == nil {
		t.Error("a negative epsilon is stated")
	}
	overspends(t, l, noise("second", "people", .01), eight)
	var id string
	if err := l.Settle(privacy.Guarantee{Epsilon: 3, Delta: 1e-6}, func(as string) error { id = as; return nil }); err != nil || id == "" {
		t.Fatal(err)
	}
	for _, table := range []string{"people", "others"} {
		if over := overspends(t, l, noise("third", table, 7.9), eight); over.Unknown || over.Left > 7.5 || over.Left < 5 {
			t.Errorf("%s: %s", table, over.Error())
		}
		a, err := l.Account(table, nil, []string{id})
		if err != nil || a.Unknown || !slices.ContainsFunc(a.Spendings, func(s Spending) bool { return s.ID == id && s.Epsilon == 3 && s.Job == "" }) {
			t.Errorf("%+v, %v", a, err)
		}
	}
	nothing := Ledger(t.TempDir())
	if _, err := nothing.Lose(); err != nil {
		t.Fatal(err)
	}
	if err := nothing.Settle(privacy.Guarantee{}, func(id string) error {
		if id != "" {
			t.Error("nothing has an ID")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	spend(t, nothing, noise("first", "people", 8))
}

// A ledger that lacks a release which the audit record has does not know what was spent, also after the record is cut.
func TestALedgerThatLacksNoise(t *testing.T) {
	l := Ledger(t.TempDir())
	paid := spend(t, l, noise("first", "people", 2))
	if _, err := l.Preview().Reserve(noise("second", "people", 2), eight, []string{paid}); err != nil {
		t.Fatal(err)
	}
	reserved := reserve(t, l, noise("second", "people", 2))
	if _, err := l.Preview().Reserve(noise("third", "people", 2), eight, []string{paid, reserved}); err == nil {
		t.Error("what is recorded as released is only reserved")
	}
	moved := Ledger(t.TempDir())
	if over := overspends(t, moved, noise("third", "people", .01), eight, paid); !over.Unknown {
		t.Error(over.Error())
	}
	if over := overspends(t, moved, noise("third", "people", .01), eight); !over.Unknown {
		t.Errorf("without the line of the record: %s", over.Error())
	}
	if a, err := Ledger(t.TempDir()).Account("people", nil, []string{paid}); err != nil || !a.Unknown {
		t.Errorf("%+v, %v", a, err)
	}
}

// What is no guarantee, names no job, or has another kind, is paid by no budget.
func TestNoiseWithoutAGuarantee(t *testing.T) {
	for name, change := range map[string]func(*method.Release){
		"no cost":      func(r *method.Release) { r.Rho = 0 },
		"negative":     func(r *method.Release) { r.Rho = -1 },
		"infinite":     func(r *method.Release) { r.Rho = math.Inf(1) },
		"no number":    func(r *method.Release) { r.Rho = math.NaN() },
		"no epsilon":   func(r *method.Release) { r.Epsilon = 0 },
		"epsilon":      func(r *method.Release) { r.Epsilon = math.NaN() },
		"delta":        func(r *method.Release) { r.Delta = math.NaN() },
		"a sure delta": func(r *method.Release) { r.Delta = 1 },
		"no job":       func(r *method.Release) { r.Model = "" },
		"another kind": func(r *method.Release) { r.Kind = method.ReleaseSums },
		"rows in blocks": func(r *method.Release) {
			r.Blocks = func(func(int, *dataset.Set, []int) error) error { return nil }
		},
	} {
		l, r := Ledger(t.TempDir()), noise("first", "people", 2)
		change(&r)
		if _, err := l.Reserve(r, eight, nil); err == nil {
			t.Errorf("%s passes", name)
		}
		if list, err := l.List(); err != nil || len(list) > 0 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

// The format of noise keeps each bit of a cost. No other format holds noise, and it holds nothing else.
func TestEntriesOfNoise(t *testing.T) {
	r := noise("first", "people", 2, "file x", "dictionary d", "file x")
	r.Study, r.Rho = "a study", math.Nextafter(r.Rho, 1)
	e := newEntry(testKey, r)
	b := e.Encode()
	back, err := DecodeEntry(b)
	if err != nil || !bytes.Equal(back.Encode(), b) || back.ID() != e.ID() || back.Rho != r.Rho || back.Epsilon != 2 || back.Delta != 1e-6 || len(back.Known) != 2 || back.Study != "a study" {
		t.Fatalf("%v: %+v comes back as %+v", err, e, back)
	}
	for n := range b {
		if _, err := DecodeEntry(b[:n]); err == nil {
			t.Fatalf("%d of %d bytes are a release", n, len(b))
		}
	}
	for name, change := range map[string]func(*Entry){
		"no cost":       func(e *Entry) { e.Rho = 0 },
		"no number":     func(e *Entry) { e.Rho = math.NaN() },
		"infinite":      func(e *Entry) { e.Rho = math.Inf(1) },
		"epsilon":       func(e *Entry) { e.Epsilon = math.Inf(1) },
		"a sure delta":  func(e *Entry) { e.Delta = 1 },
		"names":         func(e *Entry) { slices.Reverse(e.Known) },
		"a name twice":  func(e *Entry) { e.Known[1] = e.Known[0] },
		"nobody pays":   func(e *Entry) { e.Uses = nil },
		"two jobs pay":  func(e *Entry) { e.Uses = append(e.Uses, Use{Model: "another"}) },
		"another kind ": func(e *Entry) { e.Kind = "noisy" },
	} {
		other := newEntry(testKey, r)
		change(other)
		bad := other.Encode()
		if other.Kind != method.ReleaseNoise { // as a foreign hand could write it
			bad = bytes.Replace(e.Encode(), []byte("\x05\x00noise"), []byte("\x04\x00sums"), 1)
		}
		if _, err := DecodeEntry(bad); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	sums := newEntry(testKey, of(method.ReleaseSums, wide(3))).Encode()
	if _, err := DecodeEntry(bytes.Replace(sums, []byte("\x04\x00sums"), []byte("\x05\x00noise"), 1)); err == nil || !strings.Contains(err.Error(), "disagree about noise") {
		t.Errorf("noise without a cost: %v", err)
	}
}
