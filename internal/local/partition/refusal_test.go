package partition

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// The listed refusals are those of a party, by its policy and minimum row counts.
func TestRefusals(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data: {source: bundled:wdbc, label: label, partition: {parties: [north, south, east, west, mid, far]}}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.02}
  learner: {name: svc}
  prediction: open
`
	wdbc, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change []string
		rows   int
		want   string // the first; "" for none
	}{
		"six small parties": {nil, 569, "north: protocol okra needs at least 100 rows from each party, and this table has 9"},
		"two parties":       {[]string{", south, east, west, mid, far", ", south"}, 569, ""},
		"few rows":          {[]string{", south, east, west, mid, far", ", south"}, 198, "north: protocol okra needs at least 100 rows from each party, and this table has 99"},
		"paper":             {[]string{", south, east, west, mid, far", ", south", "{name: okra}", "{name: okra, mode: paper}"}, 569, `mode "paper" is not among those this party allows`},
		"pooled":            {[]string{"{name: okra}", "{name: pooled}", "  prediction: open\n", ""}, 569, "job: protocol pooled has no privacy and runs in simulate only; use okra"},
		"rows by number":    {[]string{", partition", ", test: {every: 10}, partition"}, 569, "each party chooses its own held-out rows"},
		"sums":              {[]string{", south, east, west, mid, far", ", south", "{name: okra}", "{name: moments, directions: 8}", "name: svc", "name: kpca, n_components: 2"}, 569, ""},
		"classes of sums":   {[]string{", south, east, west, mid, far", ", south", "{name: okra}", "{name: moments, directions: 8, classes: ['0', '1']}", "name: svc", "name: ridge-classifier"}, 569, "the job itself gives the classes of the label"},
		"sums of few":       {[]string{"{name: okra}", "{name: moments, directions: 8}", "name: svc", "name: kpca, n_components: 2"}, 569, "north: protocol moments needs at least 100 training rows from each party"},
	} {
		t.Run(name, func(t *testing.T) {
			j := jobtest.Parse(t, strings.NewReplacer(tt.change...).Replace(file))
			set := wdbc.Subset(dataset.Complement(tt.rows, nil))
			shares, err := Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return set, nil })
			if err != nil {
				t.Fatal(err)
			}
			got := Lines(Refusals(j, shares, 0))
			if tt.want == "" && got != nil || tt.want != "" && (len(got) == 0 || !strings.Contains(got[0], tt.want)) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if name == "six small parties" && !slices.Contains(got, "and so would 3 more") {
				t.Errorf("%q", got)
			}
		})
	}
}
