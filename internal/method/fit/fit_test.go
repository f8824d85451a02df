package fit_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

const dictionaryFile = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: cohort}
spec:
  columns:
    age: {range: [0, 120], missing: mean}
    krea: {range: [1, 400], missing: median, transform: log}
    postcode: {range: [10000, 99999]}
    bmi: {range: [10, 60]}
    hiv: {type: category, categories: [no, yes], missing: most-frequent}
    smoker: {type: category, categories: agree, missing: most-frequent}
  labels: {label: {classes: [a, b]}}
`

// file is a job of the dictionary.
func file(protocol, data string) string {
	learner, kernel := "{name: svc}", "{name: linear}"
	if strings.Contains(protocol, "moments") {
		learner, kernel = "{name: ridge-classifier, alpha: 1}", "{name: rbf, gamma: 0.5}"
	}
	return fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: hospitals}
spec:
  data:
    source: patients
    dictionary: cohort
    label: label
    partition: {parties: [north, south, east]}
%s  protocol: %s
  kernel: %s
  learner: %s
`, data, protocol, kernel, learner)
}

// reader knows the dictionary.
func reader(t *testing.T) *job.Reader {
	t.Helper()
	d, err := job.ParseDictionary("cohort.yaml", []byte(dictionaryFile))
	if err != nil {
		t.Fatal(err)
	}
	return all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return d, nil })
}

func parse(t *testing.T, text string) *job.Job {
	t.Helper()
	j, err := reader(t).Parse("job.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// join makes the members of a job ready, who keep a fit. Each number is a job of its own.
func join(t *testing.T, j *job.Job, number byte, texts map[string]string, kept map[string][]byte) *methodtest.Federation {
	t.Helper()
	m, err := method.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	c := methodtest.Instance(j)
	c.ID = job.ID{0xf, number}
	c.Limits = method.DefaultLimits()
	tables := make(map[string]method.Table)
	for _, name := range j.Parties() {
		table := methodtest.Hospital(t, j, name, texts[name], "patient")
		table.Fit = kept[name]
		tables[name] = table
	}
	return methodtest.New(t, m, c, tables)
}

// fitFor is the federation that makes the fit of a job.
func fitFor(t *testing.T, j *job.Job, number byte, texts map[string]string) *methodtest.Federation {
	t.Helper()
	return join(t, reader(t).FitOf(j), number, texts, nil)
}

// keep runs a fit, and returns what each party keeps.
func keep(t *testing.T, f *methodtest.Federation) map[string][]byte {
	t.Helper()
	f.Finish(t)
	kept := make(map[string][]byte)
	for name, p := range f.Parties {
		var b bytes.Buffer
		if err := p.Later.Write(&b); err != nil {
			t.Fatal(err)
		}
		kept[name] = b.Bytes()
	}
	return kept
}

// by is a job that names the fit of another.
func by(j *job.Job, fit byte, told ...string) *job.Job {
	named := *j
	named.Data.Fit = job.Kept{Job: job.ID{0xf, fit}, Told: told}
	return &named
}

// A job with a kept fit gives the figures and the model of a job that fits itself, in every
// protocol of parties with rows, for all columns or some, in any order, and for newcomers, which
// receive the fit.
func TestJobsByAKeptFit(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	texts := methodtest.Three(300)
	for k, tt := range []struct{ protocol, data, steps string }{
		{"{name: okra, wire: float64}", "    scale: standard\n", "column-order fit-broadcast prepared"},
		{"{name: flake, wire: float64}", "    scale: minmax\n", "column-order fit-broadcast prepared"},
		{"{name: escaped, mode: paper}", "    scale: standard\n    columns: [bmi, smoker, krea]\n", "column-order fit-broadcast prepared"},
		{"{name: okra, wire: float64}", "    scale: minmax\n    columns: [postcode, bmi]\n", "column-order fit-broadcast prepared"},
		{"{name: moments, directions: 16, classes: [a, b]}", "    scale: range\n", "column-order fit-broadcast prepared"},
	} {
		j := parse(t, file(tt.protocol, tt.data))
		if !j.NeedsFit() {
			t.Fatalf("%s %s needs no fit", tt.protocol, tt.data)
		}
		kept := keep(t, fitFor(t, j, byte(k), texts))
		itself := join(t, j, 100, texts, nil)
		itself.Finish(t)
		for _, told := range [][]string{nil, {"east"}} {
			having := map[string][]byte{"north": kept["north"], "south": kept["south"]}
			if told == nil {
				having["east"] = kept["east"]
			}
			f := join(t, by(j, byte(k), told...), byte(100), texts, having)
			var names []string
			for _, s := range f.Plan {
				names = append(names, s.Name)
			}
			want := tt.steps
			if told == nil {
				want = strings.Replace(want, " fit-broadcast", "", 1)
			}
			if got := strings.Join(names, " "); !strings.HasPrefix(got+" ", want+" ") {
				t.Errorf("%s: steps %s; want %s first", tt.protocol, got, want)
			}
			f.Finish(t)
			for name, p := range f.Parties {
				if one, two := itself.Parties[name].Preparation().Encode(), p.Preparation().Encode(); !bytes.Equal(one, two) {
					t.Errorf("%s: %s prepares by %q, and by its own fit %q", tt.protocol, name, two, one)
				}
			}
			if strings.Contains(tt.protocol, "moments") {
				continue // whose random features are the session's
			}
			one, two := itself.Result(t), f.Result(t)
			for name, v := range one.Metrics {
				if d := math.Abs(two.Metrics[name] - v); !(d < 1e-12) {
					t.Errorf("%s: %s is %v by the kept fit and %v by its own", tt.protocol, name, two.Metrics[name], v)
				}
			}
			if len(one.Metrics) == 0 || strings.Contains(tt.protocol, "okra") && one.ModelHash != two.ModelHash {
				t.Errorf("%s: models %q and %q", tt.protocol, one.ModelHash, two.ModelHash)
			}
		}
	}
}

// The ledger records the release of a job of kind Fit. It blocks a second fit on other people, and
// one among other parties. Jobs with the first fit pass, whichever parties join.
func TestAttackASecondFitOfADictionary(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ledgers := disclosuretest.NewLedgers(t, "north", "south", "east")
	j := parse(t, file("{name: okra, wire: float64}", "    scale: standard\n"))
	texts, grown := methodtest.Three(150), methodtest.Three(165)
	first := fitFor(t, j, 1, texts)
	ledgers.MustPlay(t, first, "prepared")
	kept := make(map[string][]byte)
	for name, p := range first.Parties {
		var b bytes.Buffer
		if err := p.Later.Write(&b); err != nil {
			t.Fatal(err)
		}
		kept[name] = b.Bytes()
	}
	ledgers.MustPlay(t, fitFor(t, j, 2, texts), "prepared") // the same again tells nothing
	const other = "Jobs prepare their rows by the earlier fit; a new fit needs a new dictionary"
	ledgers.Holds(t, "east", fitFor(t, j, 3, grown), other)
	ledgers.Holds(t, "east", fitFor(t, parse(t, file("{name: okra}", "    scale: range\n")), 3, grown), other)
	pair := reader(t).FitOf(j)
	pair.Data.Partition.Parties = []string{"north", "south"}
	ledgers.Holds(t, "north", join(t, pair, 4, texts, nil), "peers that took part then and do not now: east; the difference of the two fits is the fit over their rows alone")

	ledgers.MustPlay(t, join(t, by(j, 1), 5, texts, kept), "protocol")
	ledgers.MustPlay(t, join(t, by(j, 1), 6, grown, kept), "protocol")
	ledgers.Holds(t, "east", join(t, j, 7, grown, nil), "prepared or scaled by another fit than in the earlier job, or may be")
	// A coordinator that names a fit of its own choice, which parties have made by another's yes.
	second := keep(t, fitFor(t, j, 8, grown))
	ledgers.Holds(t, "east", join(t, by(j, 8), 9, grown, second), "prepared or scaled by another fit than in the earlier job, or may be")
}

// A party refuses a kept fit that belongs to another job, or is not a fit.
func TestFitsOfOtherJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	texts := methodtest.Three(150)
	j := parse(t, file("{name: okra}", "    scale: standard\n"))
	kept := keep(t, fitFor(t, j, 1, texts))
	m, err := method.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	try := func(j *job.Job, fit []byte) error {
		c := methodtest.Instance(j)
		table := methodtest.Hospital(t, j, "east", texts["east"], "patient")
		table.Fit = fit
		_, err := m.Party(c, "east", table)
		return err
	}
	for _, tt := range []struct {
		j    *job.Job
		fit  []byte
		says string
	}{
		{by(j, 1), nil, "east no longer has the fit of job"},
		{by(parse(t, file("{name: okra}", "    scale: minmax\n")), 1), kept["east"], "belongs to another dictionary or table, or has another scaling"},
		{by(parse(t, strings.Replace(file("{name: okra}", "    scale: standard\n"), "source: patients", "source: children", 1)), 1), kept["east"], "belongs to another dictionary or table"},
		{by(j, 1), kept["east"][:len(kept["east"])-1], "rows: fit"},
		{by(j, 1), slices.Concat(kept["east"], []byte{1}), "the padding of the fit is not zero"},
	} {
		if err := try(tt.j, tt.fit); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v; want %q", err, tt.says)
		}
	}
	if err := try(by(j, 1), kept["east"]); err != nil {
		t.Error(err)
	}
}

// A leader sends each member another body: the newcomer gets a fit with only the scaling of another
// one, which the preparation does not show.
func TestAttackALeaderTellsTwoStories(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	texts := methodtest.Three(150)
	for _, data := range []string{"    scale: minmax\n", "    scale: minmax\n    columns: [postcode, bmi]\n"} {
		j := parse(t, file("{name: okra}", data))
		kept := keep(t, fitFor(t, j, 1, texts))
		others := methodtest.Three(150)
		others["north"] = strings.Replace(others["north"], ",1", ",2", 40)
		scaled := keep(t, fitFor(t, j, 1, others))
		if bytes.Equal(kept["north"], scaled["north"]) {
			t.Fatal("the two fits are one")
		}
		f := join(t, by(j, 1, "east"), 3, texts, map[string][]byte{"north": kept["north"], "south": kept["south"]})
		f.Until(t, "fit-broadcast")
		// East hears the other fit: as if the leader had told it so.
		lied := join(t, by(j, 1, "east"), 3, texts, map[string][]byte{"north": scaled["north"], "south": scaled["south"]})
		lied.Until(t, "fit-broadcast")
		f.Parties["east"] = lied.Parties["east"]
		err := f.Try(t.Context(), f.Index(t, "prepared"), func() {})
		if err == nil || !strings.Contains(err.Error(), "preparation") {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// A newcomer receives another fit in a second job that names the same first one: its ledger blocks
// its rows.
func TestAttackANewcomerIsToldTwoFits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	texts := methodtest.Three(150)
	j := parse(t, file("{name: okra}", "    scale: standard\n"))
	kept, other := keep(t, fitFor(t, j, 1, texts)), keep(t, fitFor(t, j, 2, methodtest.Three(200)))
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, join(t, by(j, 1, "south", "east"), 3, texts, map[string][]byte{"north": kept["north"]}), "protocol")
	ledgers.MustPlay(t, join(t, by(j, 1, "south", "east"), 4, texts, map[string][]byte{"north": kept["north"]}), "protocol")
	ledgers.HoldsAt(t, "protocol", "east", join(t, by(j, 1, "south", "east"), 5, texts, map[string][]byte{"north": other["north"]}), "prepared or scaled by another fit than in the earlier job, or may be")
}

// A job that is closed before all is fitted leaves no fit.
func TestAFitThatIsClosedEarlyLeavesNothing(t *testing.T) {
	texts := methodtest.Three(150)
	f := fitFor(t, parse(t, file("{name: okra}", "    scale: minmax\n")), 1, texts)
	for i, step := range f.Plan {
		for name, p := range f.Parties {
			var b bytes.Buffer
			if err := p.Later.Write(&b); err == nil || b.Len() > 0 || p.Later.Lasts() {
				t.Fatalf("before %s %s writes %d bytes, %v", step.Name, name, b.Len(), err)
			}
		}
		f.Step(t, i)
	}
	for name, p := range f.Parties {
		if !p.Later.Lasts() {
			t.Errorf("%s keeps no fit", name)
		}
	}
}

// The message with a fit has room for the fit of the widest dictionary.
func TestRoomForAToldFit(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	columns := ""
	for k := range 60 {
		columns += fmt.Sprintf("    c%d: {type: category, categories: [w0", k)
		for w := range 59 {
			columns += fmt.Sprintf(", w%d", w+1)
		}
		columns += "]}\n"
	}
	wide := strings.Replace(dictionaryFile, "    bmi: {range: [10, 60]}\n", "    bmi: {range: [10, 60]}\n"+columns, 1)
	d, err := job.ParseDictionary("wide.yaml", []byte(wide))
	if err != nil {
		t.Fatal(err)
	}
	read := all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return d, nil })
	j, err := read.Parse("job.yaml", []byte(file("{name: okra}", "    scale: minmax\n    columns: [age, krea, postcode, bmi, hiv, smoker]\n")))
	if err != nil {
		t.Fatal(err)
	}
	texts := methodtest.Three(150)
	more, row := "", ""
	for k := range 60 {
		more, row = more+fmt.Sprintf(",c%d", k), row+",w0"
	}
	for name, text := range texts {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for i := range lines {
			lines[i] += []string{more, row}[min(i, 1)]
		}
		texts[name] = strings.Join(lines, "\n") + "\n"
	}
	kept := keep(t, join(t, read.FitOf(j), 1, texts, nil))
	join(t, by(j, 1, "east"), 3, texts, map[string][]byte{"north": kept["north"], "south": kept["south"]}).Until(t, "prepared")
}

// The leader cannot send newcomers another fit than the others have.
func TestAttackALeaderTellsAnotherFit(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	texts := methodtest.Three(150)
	j := parse(t, file("{name: okra}", "    scale: standard\n"))
	kept, other := keep(t, fitFor(t, j, 1, texts)), keep(t, fitFor(t, j, 2, methodtest.Three(200)))
	f := join(t, by(j, 1, "east"), 3, texts, map[string][]byte{"north": other["north"], "south": kept["south"]})
	f.Until(t, "column-order")
	err := f.Try(t.Context(), f.Index(t, "fit-broadcast"), func() {})
	if err == nil || !strings.Contains(err.Error(), "north") || !strings.Contains(err.Error(), "differs from the fit that this party has kept") {
		t.Errorf("%v", err)
	}
}

// A second fit over a further edition is held by the edition's name, whether its rows differ or not.
func TestAttackAFitOfAFurtherEdition(t *testing.T) {
	j := parse(t, file("{name: okra, wire: float64}", "    scale: standard\n"))
	frozen := func(number byte, edition int, texts map[string]string) *methodtest.Federation {
		f := reader(t).FitOf(j)
		m, err := method.Of(f)
		if err != nil {
			t.Fatal(err)
		}
		c := methodtest.Instance(f)
		c.ID = job.ID{0xf, number}
		c.Limits = method.DefaultLimits()
		tables := make(map[string]method.Table)
		for _, name := range f.Parties() {
			tab := methodtest.Hospital(t, f, name, texts[name], "patient")
			tab.Edition = method.Edition{ID: strings.Repeat(string(rune('a'+edition)), 32), Number: edition, IDs: tab.Set.IDs}
			tables[name] = tab
		}
		return methodtest.New(t, m, c, tables)
	}
	try := func(second map[string]string) error {
		l := disclosuretest.NewLedgers(t, "east")
		if err := l.Play(t, frozen(1, 1, methodtest.Three(150)), "prepared"); err != nil {
			t.Fatal(err)
		}
		return l.Begin(frozen(2, 2, second))
	}
	for rows, err := range map[string]error{"the same rows": try(methodtest.Three(150)), "others": try(methodtest.Three(165))} {
		if err == nil || !strings.Contains(err.Error(), "this fit is of edition 2, and the earlier one of edition 1") {
			t.Errorf("edition 2 with %s: %v", rows, err)
		}
	}
}
