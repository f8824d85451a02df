package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// weighedTable is frozenTable with a column of weights: patient i has weight i modulo 3, and one more
// if i is below changed.
func weighedTable(changed int) string {
	lines := strings.Split(frozenTable(200), "\n")
	lines[0] += ",times"
	for i := range 200 {
		w := i % 3
		if i < changed {
			w++
		}
		lines[i+1] += fmt.Sprintf(",%d", w)
	}
	return strings.Join(lines, "\n")
}

// weighed is a home with weighedTable, frozen for a dictionary that lists the weights.
func weighed(t *testing.T) (Home, *Config, *job.Dictionary) {
	t.Helper()
	h, c, _ := frozen(t, "id")
	d, err := job.ParseDictionary("cohort.yaml", []byte(strings.Replace(cohort, "name: cohort", "name: weighed", 1)+"  weights: {times: {range: [0, 9]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	entered(t, h, c, func(s *Source) { s.Weight = "times" })
	h.put(t, "patients.csv", weighedTable(0))
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	return h, c, d
}

// loadWeighed loads the table as a job with weights does. Without a dictionary, it has columns of
// numbers.
func loadWeighed(t *testing.T, h Home, c *Config, d *job.Dictionary, number byte, weight string) (method.Table, error) {
	t.Helper()
	data := job.Data{Source: "patients", Label: "ill", Test: job.Test{Fraction: 0.25}}
	if d != nil {
		data = d.Of("north")
		data.Source, data.Label = "patients", "diagnosis"
	}
	data.Weight = weight
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	return h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{number}})
}

// A job that weights rows reads the edition's weights. It has the same rows and features, and holds
// out the same rows, as a job that does not.
func TestWeightsOfAnEdition(t *testing.T) {
	h, c, d := weighed(t)
	with, err := loadWeighed(t, h, c, d, 1, "times")
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range with.Set.IDs {
		var n float64
		if _, err := fmt.Sscanf(id, "p%g", &n); err != nil || with.Set.Weights[i] != float64(int(n)%3) {
			t.Fatalf("patient %s has weight %v", id, with.Set.Weights[i])
		}
	}
	without, err := loadWeighed(t, h, c, d, 2, "")
	if err != nil || without.Set.Weights != nil || !slices.Equal(without.Held, with.Held) || !slices.Equal(without.Set.IDs, with.Set.IDs) || !slices.Equal(without.Set.Columns, with.Set.Columns) {
		t.Errorf("a job without weights: %+v, %v", without.Set, err)
	}
}

// The catalogue offers the column. A job with another one is refused, and peers read neither name.
func TestWeightsAreOfferedByTheCatalogue(t *testing.T) {
	h, c, d := weighed(t)
	for _, tt := range []struct{ offered, asked, says string }{
		{"", "times", `the job weights rows by column "times" of patients, but its catalogue entry says no "weight:"`},
		{"times", "visit", `the job weights rows by column "visit" of patients, but its catalogue entry says "weight: times"`},
	} {
		entered(t, h, c, func(s *Source) { s.Weight = tt.offered })
		_, err := loadWeighed(t, h, c, d, 3, tt.asked)
		if err == nil || !strings.Contains(err.Error(), tt.says) || fault.CodeOf(err) != fault.CodeOf(fault.Offer.Errorf("")) {
			t.Errorf("offered %q, asked %q: %v", tt.offered, tt.asked, err)
		}
		if told := fault.NoticeOf(err).Sentence(); strings.Contains(told, "times") || strings.Contains(told, "visit") {
			t.Errorf("peers read %s", told)
		}
	}
}

// Weights of a few people that change tell these people apart, as changed labels do: no edition is
// made of them.
func TestEditionsCompareWeights(t *testing.T) {
	h, c, d := weighed(t)
	h.put(t, "patients.csv", weighedTable(3))
	var few *edition.LackError
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); !errors.As(err, &few) {
		t.Errorf("three people have other weights: %v", err)
	}
	h.put(t, "patients.csv", weighedTable(200))
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Fatal(err)
	}
	table, err := loadWeighed(t, h, c, d, 4, "times")
	if err != nil || table.Edition.Number != 2 || len(table.Edition.Clear.Rows) != 1 {
		t.Errorf("%+v, %v", table.Edition, err)
	}
}

// Weights that nobody can use are refused when the table is frozen, by their line.
func TestFreezeRefusesWeights(t *testing.T) {
	h, _, d := weighed(t)
	for cell, want := range map[string]string{
		"10": "patients.csv:2: column \"times\" holds \"10\", which is outside the dictionary's range of 0 to 9",
		"":   "patients.csv:2: column \"times\" is empty, but each row needs a weight",
		"x":  "patients.csv:2: column \"times\" holds \"x\", which is not a number",
	} {
		h.put(t, "patients.csv", strings.Replace(weighedTable(0), "a,x,0\n", "a,x,"+cell+"\n", 1))
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err == nil || !strings.Contains(err.Error(), want) || fault.CodeOf(err) != fault.CodeBadInput {
			t.Errorf("%q: %v, want %s", cell, err, want)
		}
	}
}

// A table of numbers without a dictionary has weights, too: no feature, frozen or too small for that.
func TestNumbersHaveWeights(t *testing.T) {
	for _, n := range []int{200, 20} {
		lines := strings.Split(numbersTable(n), "\n")
		lines[0] += ",times"
		for i := range n {
			lines[i+1] += fmt.Sprint(",", i%3)
		}
		h, c, _ := undescribed(t, strings.Join(lines, "\n"))
		entered(t, h, c, func(s *Source) { s.Weight = "times" })
		for number, weight := range map[byte]string{1: "times", 2: ""} {
			table, err := loadWeighed(t, h, c, nil, number, weight)
			if err != nil || !slices.Equal(table.Set.Columns, []string{"age", "krea"}) || (table.Set.Weights != nil) != (weight != "") || (table.Edition.ID != "") != (n == 200) {
				t.Errorf("%d rows, weight %q: %+v, %v", n, weight, table.Set, err)
			}
		}
	}
}
