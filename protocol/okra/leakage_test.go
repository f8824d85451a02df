package okra

import (
	"slices"
	"strings"
	"testing"
)

func TestLeakageOfDigits(t *testing.T) {
	lines := Leakage(Facts{Parties: 3, TotalRows: 1797, Features: 64, Grid: true, Encoder: Hadamard, Labels: true})["server"]
	const lattice = "All values are steps of a grid (whole numbers, counts, codes, decimals of few digits; scaled or not), and the rows outnumber the features (1797 > 64). From the inner products of all rows (the Gram matrix) alone, the server can compute every feature of every row, up to the order of the features and sign, by a known attack (lattice reduction), without knowing any row."
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, lattice) }) {
		t.Errorf("the lattice attack is missing from %q", lines)
	}
}

func TestLeakageFollowsTheFacts(t *testing.T) {
	digits := Facts{Parties: 3, TotalRows: 1797, Features: 64, Grid: true, Encoder: Hadamard, Labels: true}
	slices32k := Facts{Parties: 2, TotalRows: 1200, Features: 36608, Grid: true, Encoder: Haar}
	with := func(f Facts, change func(*Facts)) Facts {
		change(&f)
		return f
	}
	for _, c := range []struct {
		name         string
		facts        Facts
		role         string
		says, silent []string
	}{
		{"digits", digits, "server",
			[]string{"complete linear Gram matrix of all 1797 rows", "label of every row", "without knowing any row", "number of features (64), as the rank", "heuristic"},
			[]string{"tried on up to", "on no grid", "Encoder block"}},
		{"one-hot", with(digits, func(f *Facts) { f.Features = 123 }), "server",
			[]string{"(1797 > 123)", "tried on up to about 100 features; assume that it works on 123 too"}, nil},
		{"as many rows as features", with(digits, func(f *Facts) { f.TotalRows = 64 }), "server",
			[]string{"do not outnumber the features (64 <= 64)", "52 rows give all 51 pixels", "number of features (64), as the rank", "fails while rows do not outnumber"}, []string{"without knowing any row."}},
		{"no grid", with(digits, func(f *Facts) { f.Grid = false }), "server",
			[]string{"on no grid", "blind source separation", "(1797 > 64)"}, []string{"without knowing any row."}},
		{"mixed", with(digits, func(f *Facts) { f.Grid, f.Mixed = false, true }), "server",
			[]string{"has read all 61 pixels", "Do not rely on features off the grid"}, []string{"every feature of every row", "on no grid"}},
		{"hidden", with(slices32k, func(f *Facts) { f.Features = 0 }), "server",
			[]string{"do not outnumber the features (there are 1200 rows)", "hidden only while rows are fewer"}, []string{"36608", "40960", "(0)", "<= 0"}},
		{"hidden, paper", with(slices32k, func(f *Facts) { f.Features, f.Encoder = 0, Block }), "server",
			[]string{"the ranks of the blocks give it"}, []string{"36608", "(0)"}},
		{"no labels", with(digits, func(f *Facts) { f.Labels = false }), "server", nil, []string{"label"}},
		{"MRI", slices32k, "server",
			[]string{"do not outnumber the features (1200 <= 36608)", "encoded width (40960)", "adds nothing to this: the distribution"}, []string{"heuristic", "number of features (36608), as"}},
		{"paper", with(slices32k, func(f *Facts) { f.Encoder = Block }), "server",
			[]string{"mode: paper", "about 110 of them decode every other row exactly", "recovers independent features as soon as", "the ranks of the blocks give it"}, []string{"heuristic"}},
		{"paper, few rows", with(slices32k, func(f *Facts) { f.Encoder, f.TotalRows = Block, 90 }), "server",
			[]string{"known rows do not decode the others exactly; they would with more"}, []string{"about 110", "ranks of the blocks"}},
		{"paper, narrow blocks", with(slices32k, func(f *Facts) { f.Encoder, f.TotalRows, f.BlockWidth = Block, 90, 64 }), "server",
			[]string{"every block of about 64 features", "outnumber the features of a block", "about 110", "decode every other row exactly"}, []string{"about 96", "no more rows than a block"}},
		{"paper, wide blocks", with(slices32k, func(f *Facts) { f.Encoder, f.TotalRows, f.BlockWidth = Block, 110, 128 }), "server",
			[]string{"every block of about 128 features", "no more rows than a block"}, []string{"decode every other row exactly"}},
		{"two parties", slices32k, "party", []string{"each the other's number of rows"}, nil},
		{"three parties", digits, "party", []string{"total number of rows", "nothing that depends on another party's values"}, []string{"each the other's"}},
		{"coalition", digits, "coalition", []string{"together with the server decodes every row of every party", "sock puppet", "without the server learn nothing"}, nil},
		{"broker", digits, "broker", []string{"who sends to whom, when and how much", "sealed end to end"}, nil},
	} {
		text := strings.Join(Leakage(c.facts)[c.role], "\n")
		for _, s := range c.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s: %q is missing from\n%s", c.name, s, text)
			}
		}
		for _, s := range c.silent {
			if strings.Contains(text, s) {
				t.Errorf("%s: %q does not hold, but stands in\n%s", c.name, s, text)
			}
		}
	}
}

func TestLeakageHasEveryRole(t *testing.T) {
	l := Leakage(Facts{Parties: 1, TotalRows: 1, Features: 1})
	for _, role := range []string{"server", "party", "coalition", "broker"} {
		if len(l[role]) == 0 {
			t.Errorf("nothing is said of %s", role)
		}
		for _, line := range l[role] {
			if !strings.HasSuffix(line, ".") {
				t.Errorf("%s: %q is no sentence", role, line)
			}
		}
	}
	if len(l) != 4 {
		t.Errorf("%d roles", len(l))
	}
}
