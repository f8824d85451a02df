package okra

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

const (
	fittedSchema   = "age: {range: [0, 120], missing: mean}, krea: {range: [1, 400], missing: median, indicator: true, transform: log}, smoker: {type: category, categories: agree, missing: most-frequent}"
	unfittedSchema = "age: {range: [0, 120], missing: 50}, krea: {range: [1, 400], missing: 90}, smoker: {type: category, categories: [never, often], unknown: other, missing: category}"
)

// described is a job over tables with a schema.
func described(t testing.TB, schema, scale, keys string) *job.Job {
	t.Helper()
	return read(t, describedText(schema, scale, keys))
}

func describedText(schema, scale, keys string) string {
	return strings.NewReplacer("scale:", "schema: {"+schema+"}\n    scale:", "{name: svc}", "{name: svc, tol: 1.0e-10}").Replace(changing(scale, keys))
}

// typed are tables with gaps and words; each party's numbers and words are others.
func typed(t testing.TB, s prepare.Schema) map[string]method.Table {
	t.Helper()
	all := make(map[string]method.Table)
	for i, name := range []string{"north", "south", "east", "west"} {
		text := "age,krea,smoker,label\n"
		for r := range 90 {
			age, krea, smoker := fmt.Sprint(20+(7*r+11*i)%60), fmt.Sprint(40+20*i+(13*r)%90), []string{"never", "often"}[(r/2+i*r)%2]
			switch {
			case r%9 == i:
				age = ""
			case r%7 == i:
				krea = ""
			case r%11 == 5:
				smoker = ""
			case r%3 == 1 && i > 1: // words of east's and of west's own
				smoker = name + "ern"
			}
			text += fmt.Sprintf("%s,%s,%s,%c\n", age, krea, smoker, 'a'+(7*r+11*i)%60/30)
		}
		all[name] = tableOf(t, s, name, text)
	}
	return all
}

// tableOf reads a table by a schema.
func tableOf(t testing.TB, s prepare.Schema, name, text string) method.Table {
	t.Helper()
	rows, err := dataset.OpenCSV(name, strings.NewReader(text), dataset.CSVForm{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := prepare.Read(rows, prepare.Table{Name: name, Schema: s, Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	return method.Table{Set: set}
}

func playTyped(t testing.TB, schema, scale, keys string) *methodtest.Typed[*server, *party] {
	t.Helper()
	j := described(t, schema, scale, keys)
	f := methodtest.Join[*server, *party](t, Protocol(), j, typed(t, j.Data.Schema))
	f.Finish(t)
	return f
}

const (
	fits      = "column-order categories categories-broadcast preparation preparation-broadcast prepared"
	freshPlan = "learn evaluate fresh relearn"
)

// A job over tables with a schema keeps its preparation while parties and rows change: only new
// rows travel, and the model equals the model of all rows by the old preparation, bit for bit.
func TestKeptPreparation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, tt := range map[string]struct{ scale, keys, plan string }{
		"late":              {"standard", ", late: [west]", fits + " protocol column-order-again continue " + freshPlan},
		"late by ranges":    {"range", ", late: [west]", fits + " protocol column-order-again continue " + freshPlan},
		"late and minmax":   {"minmax", ", late: [west]", fits + " scale protocol column-order-again continue " + freshPlan},
		"the leader leaves": {"standard", ", withdrawn: [north], preparation: keep", fits + " protocol continue " + freshPlan},
		"rows are added":    {"standard", ", added: {south: 0.25, east: 0.1}", fits + " protocol continue " + freshPlan},
		"all of it":         {"minmax", ", late: [west], withdrawn: [north], added: {south: 0.25}, preparation: keep", fits + " scale protocol column-order-again continue " + freshPlan},
	} {
		t.Run(name, func(t *testing.T) {
			f := playTyped(t, fittedSchema, tt.scale, tt.keys)
			if got := strings.Join(names(f.Federation), " "); got != tt.plan {
				t.Errorf("steps %s, want %s", got, tt.plan)
			}
			d, err := method.DetailsOf[Details](f.Result(t))
			if err != nil || d == nil || !d.Changes.Equal || d.Changes.Preparation != "keep" || d.Changes.Changed.Products >= d.Changes.Fresh.Products {
				t.Fatalf("%v: not the fresh model: %+v", err, d)
			}
			kept := f.Parties["east"].Fitted()
			for name, p := range f.Parties {
				if !bytes.Equal(p.Fitted(), kept) {
					t.Errorf("%s prepares by another preparation", name)
				}
			}
		})
	}
}

// A newcomer's own words do not enter the fit: they count as the category other, or have zeros in
// all columns, as the schema says.
func TestWordsOfANewcomer(t *testing.T) {
	agreed := []string{"age", "krea", "krea_missing", "smoker_eastern", "smoker_never", "smoker_often"}
	for unknown, want := range map[string]struct {
		columns []string
		sum     float64 // of the smoker columns of a row with another word
	}{"other": {append(slices.Clone(agreed), "smoker_other"), 1}, "ignore": {agreed, 0}} {
		f := playTyped(t, strings.Replace(fittedSchema, "categories: agree", "categories: agree, unknown: "+unknown, 1), "standard", ", late: [west]")
		set := f.Parties["west"].Split.Set
		if !slices.Equal(set.Columns, want.columns) {
			t.Errorf("%s: columns %q, want %q", unknown, set.Columns, want.columns)
		}
		own := 0
		for i, row := 0, make([]float64, len(set.Columns)); i < 90; i++ {
			if set.X.Row(i, row); row[3]+row[4]+row[5] > 0 {
				continue
			}
			own++
			if sum := row[3] + row[4] + row[5] + append(row, 0)[6]; sum != want.sum {
				t.Errorf("%s: row %d is %v", unknown, i, row)
			}
		}
		if own < 20 {
			t.Errorf("%s: %d rows of west have another word", unknown, own)
		}
	}
}

// A refit is a run of the parties and rows as they are: its preparation has no trace of who left,
// and has seen who came.
func TestRefittedPreparation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, tt := range map[string]struct{ scale, keys, parties string }{
		"a party leaves": {"standard", ", withdrawn: [north]", "[south, east, west]"},
		"a party comes":  {"minmax", ", late: [south], preparation: refit", "[north, south, east, west]"},
		"rows come":      {"standard", ", added: {east: 0.5}, preparation: refit", "[north, south, east, west]"},
		"two are left":   {"range", ", withdrawn: [north, south]", "[east, west]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := playTyped(t, fittedSchema, tt.scale, tt.keys)
			got := strings.Join(names(f.Federation), " ")
			if want := strings.ReplaceAll(fits, " ", "-again ") + "-again"; !strings.Contains(got, want) || strings.Contains(got, "fresh") {
				t.Errorf("steps %s, want %s among them", got, want)
			}
			text := strings.Replace(describedText(fittedSchema, tt.scale, ""), "[north, south, east, west]", tt.parties, 1)
			never := methodtest.Join[*server, *party](t, Protocol(), read(t, text), typed(t, described(t, fittedSchema, tt.scale, "").Data.Schema))
			never.Finish(t)
			sameDecisions(t, f, never)
			for name, p := range never.Parties {
				if !bytes.Equal(f.Parties[name].Fitted(), p.Fitted()) {
					t.Errorf("%s has another preparation than in a fresh run", name)
				}
			}
			d, err := method.DetailsOf[Details](f.Result(t))
			if err != nil || d.Changes.Preparation != "refit" || !d.Changes.Equal {
				t.Errorf("%v: %+v", err, d)
			}
		})
	}
}

// If nothing is fitted on rows, keep and refit are equal, and newcomers need not receive anything.
func TestNothingToKeep(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, scale := range []string{"range", "none"} {
		for _, keys := range []string{", withdrawn: [north]", ", late: [west]", ", added: {south: 0.25}", ", late: [west], withdrawn: [north], preparation: keep"} {
			f := playTyped(t, unfittedSchema, scale, keys)
			d, err := method.DetailsOf[Details](f.Result(t))
			if err != nil || !d.Changes.Equal || d.Changes.Preparation != "none" || slices.Contains(names(f.Federation), "protocol-again") {
				t.Errorf("%s%s: %v: %+v", scale, keys, err, d)
			}
			if b := f.Parties["east"].Fitted(); len(b) > 0 {
				t.Errorf("%s%s: newcomers are told %d bytes", scale, keys, len(b))
			}
			for role, list := range f.Result(t).Leakage {
				if text := strings.Join(list, "\n"); strings.Contains(text, "trace") || strings.Contains(text, "fitted") {
					t.Errorf("%s%s: %s: %s", scale, keys, role, text)
				}
			}
			plain := described(t, unfittedSchema, scale, "")
			whole := methodtest.Join[*server, *party](t, Protocol(), plain, typed(t, plain.Data.Schema))
			whole.Finish(t)
			if strings.HasPrefix(keys, ", withdrawn") || strings.Contains(keys, "keep") {
				continue
			}
			sameDecisions(t, f, whole)
		}
	}
}

// A fit is decoded as it was encoded. Decoding refuses a byte too few or too many, and a job with
// another schema.
func TestFittedRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, scale := range []string{"standard", "minmax", "none"} {
		p := playTyped(t, fittedSchema, scale, "").Parties["north"]
		b := p.Fitted()
		if _, _, err := p.By(b); err != nil {
			t.Fatal(err)
		}
		for n := range b {
			if _, _, err := p.By(b[:n]); err == nil {
				t.Fatalf("%s: %d of %d bytes are taken", scale, n, len(b))
			}
		}
		if _, _, err := p.By(append(slices.Clone(b), 0)); err == nil {
			t.Errorf("%s: a byte too many is taken", scale)
		}
		other := playTyped(t, strings.Replace(fittedSchema, "[0, 120]", "[0, 130]", 1), scale, "").Parties["north"]
		if _, _, err := p.By(other.Fitted()); err == nil {
			t.Errorf("%s: the preparation of another schema is taken", scale)
		}
	}
}

// Leakage states which parties took part in the fit, what a newcomer receives of it, where a trace
// of a leaver stays, and what two fits reveal.
func TestLeakageOfKeptPreparations(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct{ scale, keys, role, want string }{
		{"standard", ", late: [west]", "party", "Late: west learns the preparation that the others fitted: age (mean, mean and deviation for the scaling); krea (median, mean and deviation for the scaling); smoker (most frequent word, agreed categories), over their rows."},
		{"range", ", late: [west, east]", "party", "Two parties train. Every party learns sums over the training rows of both"},
		{"standard", ", withdrawn: [north], preparation: keep", "party", "A trace of north stays in the preparation (means, medians, most frequent words, agreed categories, deviations), which was fitted on its rows too. With preparation: refit it would be removed"},
		{"minmax", ", withdrawn: [north], preparation: keep", "party", "A trace of north stays in the preparation (means, medians, most frequent words, agreed categories) and the scaling, which"},
		{"standard", ", withdrawn: [north]", "party", "A party in both fits learns from the difference how much the added or removed rows add to each sum"},
		{"standard", ", withdrawn: [north]", "server", "The remaining rows were sent twice, prepared in two ways"},
	} {
		lines := strings.Join(playTyped(t, fittedSchema, tt.scale, tt.keys).Result(t).Leakage[tt.role], "\n")
		if !strings.Contains(lines, tt.want) {
			t.Errorf("%s%s: %s: %q is missing in\n%s", tt.scale, tt.keys, tt.role, tt.want, lines)
		}
	}
}

// A fit has one encoding, and no bytes crash the program.
func FuzzFitted(f *testing.F) {
	j := described(f, fittedSchema, "minmax", ", late: [west]")
	p, err := Protocol().Party(methodtest.Instance(j), "west", typed(f, j.Data.Schema)["west"])
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(playTyped(f, fittedSchema, "minmax", ", late: [west]").Parties["west"].Fitted())
	f.Fuzz(func(t *testing.T, b []byte) {
		other := *p.State.(*party).Party
		if err := other.Fit(b); err == nil && !bytes.Equal(other.Fitted(), b) {
			t.Error("not canonical")
		}
	})
}

// A fit that is too large for a newcomer is refused before rows are sent.
func TestTooMuchIsFitted(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	var columns, words []string
	for i := range 100 {
		words = append(words, fmt.Sprintf("%d-%s", i, strings.Repeat("w", 900)))
	}
	for i := range 5 {
		columns = append(columns, fmt.Sprintf("c%d: {type: category, categories: [%s]}", i, strings.Join(words, ", ")))
	}
	j := described(t, strings.Join(append(columns, "age: {range: [0, 120], missing: mean}"), ", "), "none", ", continuable: true")
	text := strings.Join(j.Data.Schema.Names(), ",") + ",label\n"
	for r := range 90 {
		text += strings.Repeat(words[0]+",", 5) + fmt.Sprintf("%d,%c\n", r, 'a'+r%2)
	}
	tables := make(map[string]method.Table)
	for _, name := range j.Parties() {
		tables[name] = tableOf(t, j.Data.Schema, name, text)
	}
	f := methodtest.Join[*server, *party](t, Protocol(), j, tables)
	for i, step := range f.Plan {
		err := f.Try(t.Context(), i, func() {})
		if step.Name == "protocol" {
			if err == nil || !strings.Contains(err.Error(), "bytes, but at most 393216 are kept for newcomers and later jobs; use fewer columns or categories") {
				t.Errorf("error %v", err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
	}
}
