package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// sumsOf describes the sums of a job by moments over the training rows of what it sees, as
// rows.Party does.
func sumsOf(t *testing.T, tab method.Table, d *job.Dictionary, label string, classes bool, model string) method.Release {
	t.Helper()
	r := method.Release{Kind: method.ReleaseSums, Job: model, Model: model, Peers: []string{"hub", "south"}, Scale: "none", Label: label,
		Table: "patients", Schema: "dictionary " + d.Hash(), Set: tab.Set, Edition: tab.Edition.Without(job.Test{Fraction: d.Fraction}), Classes: classes}
	held := marked(tab.Set.X.Rows(), tab.Held)
	for i := range held {
		if !held[i] {
			r.Among = append(r.Among, i)
		}
	}
	return r
}

// training are the rows in training, by id: label and the cells that were picked.
func training(tab method.Table) map[string]string {
	all := make(map[string]string)
	held := marked(tab.Set.X.Rows(), tab.Held)
	f := tab.Set.X.(interface{ AppendCell([]byte, int, int) []byte })
	for i, id := range tab.Set.IDs {
		if held[i] {
			continue
		}
		text := ""
		if tab.Set.Labels != nil {
			text = tab.Set.Labels[i] + "|"
		}
		for c := range tab.Set.X.Cols() {
			text += fmt.Sprintf("%x ", f.AppendCell(nil, i, c))
		}
		all[id] = text
	}
	return all
}

// apartOf lists who is in one of two sums alone, or has other values, by label.
func apartOf(a, b map[string]string) map[string][]string {
	out := make(map[string][]string)
	class := func(text string) string { c, _, _ := strings.Cut(text, "|"); return c }
	for id, x := range a {
		if y, in := b[id]; !in || x != y {
			out[class(x)] = append(out[class(x)], id)
		}
	}
	for id, y := range b {
		if x, in := a[id]; !in || x != y && class(x) != class(y) {
			out[class(y)] = append(out[class(y)], id)
		}
	}
	return out
}

func fewest(apart map[string][]string) int {
	n := 0
	for _, list := range apart {
		if n == 0 || len(list) < n {
			n = len(list)
		}
	}
	return n
}

// bothPass lets the first sums out and reports whether the second are admitted.
func bothPass(t *testing.T, first, second method.Release) error {
	t.Helper()
	l := disclosure.Ledger(t.TempDir())
	id, err := l.Admit(disclosure.Asker{}, first, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(first.Kind, id); err != nil {
		t.Fatal(err)
	}
	_, err = l.Admit(disclosure.Asker{}, second, 0)
	return err
}

// One person withdraws, and nine others with them: few of these ten are of one class. The home must
// not count the withdrawal as safe for the class.
func TestAttackWithdrawalTellsFewOfAClass(t *testing.T) {
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	before := takenBy(t, h, c, d, 1, "diagnosis")
	someone := before.Set.IDs[slices.IndexFunc(before.Set.IDs, func(id string) bool { _, in := training(before)[id]; return in })]
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{someone}); err != nil {
		t.Fatal(err)
	}
	after := takenBy(t, h, c, d, 2, "diagnosis")
	gone := apartOf(training(before), training(after))
	err := bothPass(t, sumsOf(t, before, d, "diagnosis", true, "a"), sumsOf(t, after, d, "diagnosis", true, "b"))
	if n := fewest(gone); err == nil && n > 0 && n < 10 {
		t.Errorf("two jobs of sums by a label, before and after a withdrawal, tell of %d people of a class: %v", n, gone)
	}
}

// After a withdrawal nobody is known to be in training, so that the next edition counts everybody
// as come.
func TestAttackAfterAWithdrawalFewCome(t *testing.T) {
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	// 12 withdraw, who are of one group: no company.
	first := takenBy(t, h, c, d, 1, "diagnosis")
	var some []string
	for id := range training(first) {
		some = append(some, id)
	}
	slices.Sort(some)
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", some[:12]); err != nil {
		t.Fatal(err)
	}
	before := takenBy(t, h, c, d, 2, "diagnosis")
	// 80 come, of whom four are of class b.
	lines := strings.Split(strings.TrimSpace(frozenTable(200)), "\n")
	for i := range 80 {
		class := "a"
		if i%20 == 7 {
			class = "b"
		}
		lines = append(lines, fmt.Sprintf("q%d,30,7,3,%s,x", i, class))
	}
	h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	after := takenBy(t, h, c, d, 3, "diagnosis")
	apart := apartOf(training(before), training(after))
	err := bothPass(t, sumsOf(t, before, d, "diagnosis", true, "a"), sumsOf(t, after, d, "diagnosis", true, "b"))
	if n := fewest(apart); err == nil && n > 0 && n < 10 {
		t.Errorf("sums of editions 2 and 3 by a label tell of %d people of a class", n)
	}
}

// rewritten is the table with some rows written otherwise.
func rewritten(n int, edit func(i int, cells []string) []string) string {
	lines := strings.Split(strings.TrimSpace(frozenTable(n)), "\n")
	for i := range lines[1:] {
		lines[i+1] = strings.Join(edit(i, strings.Split(lines[i+1], ",")), ",")
	}
	return strings.Join(lines, "\n") + "\n"
}

// oneAge is the table in which the age of one in training has changed, and the visits of many
// others.
func oneAge(training map[string]string) string {
	changed := false
	return rewritten(200, func(i int, cells []string) []string {
		_, trains := training[cells[0]]
		switch {
		case i >= 120 || cells[2] == "":
		case trains && !changed:
			cells[1], changed = "99", true
		default:
			cells[3] = "12" // visit
		}
		return cells
	})
}

func refreeze(t *testing.T, h Home, d *job.Dictionary, text string) {
	t.Helper()
	if err := freezes(t, h, d, text); err != nil {
		t.Fatal(err)
	}
}

func freezes(t *testing.T, h Home, d *job.Dictionary, text string) error {
	t.Helper()
	h.put(t, "patients.csv", text)
	_, err := h.Freeze(context.Background(), all.Reader(), d, "patients")
	return err
}

// Cells of many change: of all but one in a column that the jobs do not pick.
func TestAttackOneChangesInAPickedColumn(t *testing.T) {
	h, c, d := frozen(t, "id")
	in := training(takenBy(t, h, c, d, 1, "diagnosis", "age"))
	text := oneAge(in)
	first := map[string]method.Table{}
	for k, label := range []string{"diagnosis", job.NoLabel} {
		first[label] = takenBy(t, h, c, d, byte(1+k), label, "age")
	}
	refreeze(t, h, d, text)
	for k, label := range []string{"diagnosis", job.NoLabel} {
		before, after := first[label], takenBy(t, h, c, d, byte(11+k), label, "age")
		was, is := training(before), training(after)
		var apart []string
		for id := range was {
			if was[id] != is[id] {
				apart = append(apart, id)
			}
		}
		for _, kind := range []method.ReleaseKind{method.ReleaseSums, method.ReleaseRows} {
			one, two := sumsOf(t, before, d, label, true, "a"), sumsOf(t, after, d, label, true, "b")
			if kind == method.ReleaseRows {
				one.Among, two.Among, one.Kind, two.Kind, one.Edition.Out, two.Edition.Out = nil, nil, kind, kind, "", ""
			}
			err := bothPass(t, one, two)
			if n := len(apart); err == nil && len(was) == len(is) && n > 0 && n < 10 {
				t.Errorf("%s over age by label %s of editions 1 and 2 differ by %d person: %v", kind, label, n, apart)
			}
		}
	}
}

// Many change in a column that the other dictionary alone reads; one in a column of the jobs'
// dictionary, which pick all columns.
func TestAttackOneChangesBesideAnotherDictionary(t *testing.T) {
	h, c, _ := frozen(t, "id")
	narrow, err := job.ParseDictionary("narrow.yaml", []byte(strings.NewReplacer("name: cohort", "name: narrow", ", visit: {}", "", ", outcome: {}", "").Replace(cohort)))
	if err != nil {
		t.Fatal(err)
	}
	one, _ := job.ParseDictionary("cohort.yaml", []byte(cohort))
	for _, d := range []*job.Dictionary{one, narrow} {
		if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), narrow, "patients"); err != nil {
		t.Fatal(err)
	}
	before := takenBy(t, h, c, narrow, 1, "diagnosis")
	was := training(before)
	refreeze(t, h, narrow, oneAge(was))
	after := takenBy(t, h, c, narrow, 2, "diagnosis")
	is := training(after)
	var apart []string
	for id := range was {
		if was[id] != is[id] {
			apart = append(apart, id)
		}
	}
	err = bothPass(t, sumsOf(t, before, narrow, "diagnosis", true, "a"), sumsOf(t, after, narrow, "diagnosis", true, "b"))
	if err == nil && len(apart) > 0 && len(apart) < 10 {
		t.Errorf("sums of all columns of one dictionary differ by %v", apart)
	}
}

// labelledTable are n patients in training or not, with a label each.
func labelledTable(label func(i int) string, n int) string {
	var b strings.Builder
	b.WriteString("id,age,krea,visit,diagnosis,outcome\n")
	for i := range n {
		fmt.Fprintf(&b, "p%d,%d,%d,%d,%s,x\n", i, 20+i*7%60, i*i%97, i%12, label(i))
	}
	return b.String()
}

func frozenBy(t *testing.T, labels, text string) (Home, *Config, *job.Dictionary) {
	t.Helper()
	h := newHome(t, roster.Party)
	c := &Config{Name: "north", Coordinator: "nats://127.0.0.1:4222", Data: map[string]Source{"patients": {Path: "patients.csv", Label: Labels{Columns: []string{"diagnosis", "outcome"}}}}}
	s := c.Data["patients"]
	s.ID.Columns = []string{"id"}
	c.Data["patients"] = s
	if err := c.save(h.ConfigPath(), roster.Party); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", text)
	d, err := job.ParseDictionary("other.yaml", []byte(strings.NewReplacer("name: cohort", "name: other", "labels: {diagnosis: {}, outcome: {}}", "labels: "+labels).Replace(cohort)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	return h, c, d
}

// Twelve move between two classes that jobs see as one, and hide that three of it came.
func TestAttackMergedClasses(t *testing.T) {
	base := func(i int) string { return []string{"well", "mild", "severe", "well"}[i%4] }
	h, c, d := frozenBy(t, "{diagnosis: {classes: [well, ill], merged: {ill: [mild, severe]}}}", labelledTable(base, 400))
	job1 := func(n byte) method.Table {
		data := d.Of("north")
		l := d.Labels[0]
		data.Source = "patients"
		data.DescribeLabel(l)
		key, err := h.splitKey()
		if err != nil {
			t.Fatal(err)
		}
		tab, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{n}})
		if err != nil {
			t.Fatal(err)
		}
		if tab.Set, err = data.Take(tab.Set); err != nil {
			t.Fatal(err)
		}
		return tab
	}
	before := job1(1)
	ill := 0
	refreeze(t, h, d, labelledTable(func(i int) string {
		switch {
		case i < 380 && i%4 == 1:
			return "severe" // was mild
		case i < 400:
			return base(i)
		case i%25 == 3 && ill < 4:
			ill++
			return "severe"
		}
		return "well"
	}, 520))
	after := job1(2)
	was, is := training(before), training(after)
	apart := apartOf(was, is)
	err := bothPass(t, sumsOf(t, before, d, "diagnosis", true, "a"), sumsOf(t, after, d, "diagnosis", true, "b"))
	if n := len(apart["ill"]); err == nil && n > 0 && n < 10 {
		t.Errorf("sums by merged classes tell of %d", n)
	}
}

// A person withdraws after the split key was renewed.
func TestAttackWithdrawAfterAnotherSplitKey(t *testing.T) {
	h, _, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := h.RenewSplitKey(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p17"}); err == nil || !strings.Contains(err.Error(), "mercer edition erase") {
		t.Fatalf("%v, want a way out", err)
	}
	if err := h.Editions().Erase("patients", d.Name, 1); err != nil {
		t.Fatal(err)
	}
	if done, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p17"}); err != nil || done.People != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

// The list of editions is plain JSON.
func TestAttackAListOfAStranger(t *testing.T) {
	for name, text := range map[string]string{
		"null table":      `{"editions":[],"tables":{"patients":null}}`,
		"null dictionary": `{"editions":[],"tables":{"patients":{"known":"","dictionaries":{"x":null}}}}`,
		"no dictionaries": `{"editions":[],"tables":{"patients":{"known":""}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r := recover(); r != nil {
					t.Errorf("panics: %v", r)
				}
			}()
			h, _, d := frozen(t, "id")
			h.put(t, "editions/list", text)
			_, err := h.Editions().Dictionaries("patients")
			_, err2 := h.Freeze(context.Background(), all.Reader(), d, "patients")
			if err == nil && err2 == nil {
				t.Error("a list that this program did not write is read")
			}
		})
	}
}

// The folder of editions is moved away, as the sentence on a list that cannot be read says, and one
// patient changes: the ledger stays, and takes the two editions of number 1 for one.
func TestAttackEditionsMovedAway(t *testing.T) {
	for _, kind := range []method.ReleaseKind{method.ReleaseSums, method.ReleaseRows} {
		h, c, d := frozen(t, "id")
		before := takenBy(t, h, c, d, 1, "diagnosis")
		was := training(before)
		if err := os.Rename(h.editions(), h.editions()+".old"); err != nil {
			t.Fatal(err)
		}
		done := false
		refreeze(t, h, d, rewritten(200, func(i int, cells []string) []string {
			if _, trains := was[cells[0]]; trains && !done {
				done, cells[1] = true, "99"
			}
			return cells
		}))
		after := takenBy(t, h, c, d, 2, "diagnosis")
		is, n := training(after), 0
		for id := range was {
			if was[id] != is[id] {
				n++
			}
		}
		one, two := sumsOf(t, before, d, "diagnosis", true, "a"), sumsOf(t, after, d, "diagnosis", true, "b")
		if kind == method.ReleaseRows {
			one.Among, two.Among, one.Kind, two.Kind = nil, nil, kind, kind
		}
		err := bothPass(t, one, two)
		if err == nil {
			t.Errorf("%s that differ by %d person pass", kind, n)
		}
	}
}

// A wrong import spoils a column in edition 2 and is mended in edition 3, in which one patient has
// changed since edition 1.
func TestAttackChangedBack(t *testing.T) {
	h, c, d := frozen(t, "id")
	first := make(map[string]method.Table)
	for k, label := range []string{"diagnosis", job.NoLabel} {
		first[label] = takenBy(t, h, c, d, byte(1+k), label)
	}
	was := training(first[job.NoLabel])
	refreeze(t, h, d, rewritten(200, func(i int, cells []string) []string {
		cells[1] += ".5"
		return cells
	}))
	done := false
	refreeze(t, h, d, rewritten(200, func(i int, cells []string) []string {
		if _, trains := was[cells[0]]; trains && !done {
			done, cells[1] = true, "99"
		}
		return cells
	}))
	for k, label := range []string{"diagnosis", job.NoLabel} {
		before, after := first[label], takenBy(t, h, c, d, byte(31+k), label)
		was, is, n := training(before), training(after), 0
		for id := range was {
			if was[id] != is[id] {
				n++
			}
		}
		for _, kind := range []method.ReleaseKind{method.ReleaseSums, method.ReleaseRows} {
			one, two := sumsOf(t, before, d, label, true, "a"), sumsOf(t, after, d, label, true, "b")
			if kind == method.ReleaseRows {
				one.Among, two.Among, one.Kind, two.Kind, one.Edition.Out, two.Edition.Out = nil, nil, kind, kind, "", ""
			}
			err := bothPass(t, one, two)
			if err == nil && n > 0 && n < 10 {
				t.Errorf("%s of all columns by label %s, editions 1 and 3, differ by %d person", kind, label, n)
			}
		}
	}
}

// An edition for a dictionary that is no longer used cannot be read by the catalogue's entry:
// nobody can withdraw.
func TestAttackAnOldDictionaryKeepsEverybody(t *testing.T) {
	h, c, dicts := approvedTwice(t)
	entered(t, h, c, func(s *Source) { s.Drop = []string{"age"} })
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p17"}); err == nil || !strings.Contains(err.Error(), "mercer edition erase") {
		t.Fatalf("%v, want a way out", err)
	}
	for _, d := range dicts {
		if _, err := h.Dictionaries().Revoke(d.Name); err != nil {
			t.Fatal(err)
		}
	}
	done, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p17"})
	if err != nil || len(done.Erased) != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	if list, err := h.Editions().List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v: p17 is in an edition still", list, err)
	}
}

// The catalogue's entry translates a word of few, after a job over the edition: a second job of the
// same edition reads the same frozen rows otherwise, under the same ID.
func TestAttackAnEntryTranslatesOneCell(t *testing.T) {
	h, c, d := frozen(t, "id")
	entered(t, h, c, func(s *Source) {
		s.Columns.Theirs = map[string]prepare.Theirs{"age": {Values: map[string]string{"20": "99"}}}
	})
	data := d.Of("north")
	data.Source, data.Label = "patients", "diagnosis"
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{2}}); !errors.Is(err, errOtherReading) {
		t.Errorf("%v, want the entry refused", err)
	}
}

// visits are patients, each with a row or two: age, visit and diagnosis.
type visits map[string][][3]string

func newVisits() visits {
	v := make(visits)
	for i := range 200 {
		name := fmt.Sprint("g", i)
		v[name] = [][3]string{{fmt.Sprint(20 + i*7%60), fmt.Sprint(i % 12), []string{"a", "b"}[i%2]}}
		if i < 100 {
			v[name] = append(v[name], [3]string{fmt.Sprint(81 + i%9), fmt.Sprint((i + 5) % 12), []string{"b", "a"}[i%2]})
		}
	}
	return v
}

func (v visits) text() string {
	lines := []string{"patient,age,krea,visit,diagnosis,outcome"}
	for i := range 200 {
		name := fmt.Sprint("g", i)
		for _, r := range v[name] {
			lines = append(lines, fmt.Sprintf("%s,%s,1,%s,%s,x", name, r[0], r[1], r[2]))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// Nine patients' visits change, and one thing of another one, which is hidden among several rows or
// hides behind them: a job over age, by diagnosis, waits beside the one before.
func TestAttackSeveralRowsHideOneChange(t *testing.T) {
	for what, change := range map[string]func(v visits, training []string){
		"an age behind visits of several rows": func(v visits, training []string) {
			nine, one := 0, false
			for _, name := range training {
				switch {
				case len(v[name]) == 2 && nine < 9:
					v[name][0][1], nine = "99", nine+1
				case len(v[name]) == 1 && !one:
					v[name][0][0], one = "99", true
				}
			}
		},
		"labels swapped between two rows": func(v visits, training []string) {
			nine, one := 0, false
			for _, name := range training {
				switch rows := v[name]; {
				case len(rows) == 1 && nine < 9:
					rows[0][1], nine = "99", nine+1
				case len(rows) == 2 && !one:
					rows[0][2], rows[1][2], one = rows[1][2], rows[0][2], true
				}
			}
		},
	} {
		h := newHome(t, roster.Party)
		c := &Config{Name: "north", Coordinator: "nats://127.0.0.1:4222", Data: map[string]Source{"patients": {Path: "patients.csv", Group: "patient", Label: Labels{Columns: []string{"diagnosis", "outcome"}}}}}
		if err := c.save(h.ConfigPath(), roster.Party); err != nil {
			t.Fatal(err)
		}
		d, err := job.ParseDictionary("cohort.yaml", []byte(cohort))
		if err != nil {
			t.Fatal(err)
		}
		v := newVisits()
		refreeze(t, h, d, v.text())
		before := takenBy(t, h, c, d, 1, "diagnosis", "age")
		out := marked(before.Set.X.Rows(), before.Held)
		var training []string
		for i, name := range before.Set.Groups {
			if !out[i] && !slices.Contains(training, name) {
				training = append(training, name)
			}
		}
		change(v, training)
		refreeze(t, h, d, v.text())
		after := takenBy(t, h, c, d, 2, "diagnosis", "age")
		for _, kind := range []method.ReleaseKind{method.ReleaseSums, method.ReleaseRows} {
			one, two := sumsOf(t, before, d, "diagnosis", true, "a"), sumsOf(t, after, d, "diagnosis", true, "b")
			one.Kind, two.Kind = kind, kind
			if err := bothPass(t, one, two); err == nil {
				t.Errorf("%s: %s of both editions pass", what, kind)
			}
		}
	}
}
