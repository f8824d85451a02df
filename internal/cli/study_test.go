package cli

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
)

// The operator reads each of a study's bounds, and what its jobs reveal together, before the yes.
func TestWhatAStudyAllowsAndReveals(t *testing.T) {
	s := &job.Study{
		Name: "kidney", Purpose: "vote 17", Dictionary: "cohort@12", Parties: []string{"north", "south"}, Protocols: []string{"moments", "okra"},
		Learners: []string{"ridge"}, Kernels: []string{"rbf"}, Gamma: [2]float64{0.25, 2}, Labels: []string{"ill", "dead"}, Splits: []string{"party", "column"},
		Jobs: 300, Numbers: 5000, Until: "2027-06-30",
	}
	bare := &job.Study{Parties: []string{"north"}, Protocols: []string{"okra"}}
	for what, part := range map[string]struct {
		lines []string
		says  []string
	}{
		"allows": {allows(s), []string{
			"vote 17", "300 jobs of north, south", "2027-06-30", "cohort@12", "moments, okra", "ridge", "rbf with gamma from 0.25 to 2 of scaled columns", "ill, dead",
			"held-out rows that a job chooses by party or column", "each job chooses all else",
		}},
		"allows, of few keys":  {allows(bare), []string{"any kernel", "no labels", "held-out rows that each party's key chooses"}},
		"reveals, of few keys": {reveals(bare), []string{"no more than each of them by itself"}},
		"reveals": {reveals(s), []string{
			"5000 numbers in sums", "of one solution for each of 300 jobs", "reveal every cell to the coordinator", "the labels ill, dead", "each party's own sums",
			"another scaling, unless they add up sums",
		}},
	} {
		text := strings.Join(part.lines, "\n")
		for _, want := range part.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", what, want, text)
			}
		}
	}
}
