package cli

import (
	"testing"
	"time"
)

// A line of mercer budget show has the time, the id of the job, and how it ended, as far as they are known.
func TestSpendingAsALine(t *testing.T) {
	at := time.Date(2026, 11, 2, 3, 4, 5, 0, time.Local)
	for _, c := range []struct {
		s    budgetSpending
		want string
	}{
		{budgetSpending{ID: "00ab", Job: "risk", Table: "rows", Day: "2026-11-02", Time: at, Outcome: "done", Epsilon: 2, Delta: 1e-6, Release: "f0"}, "2026-11-02 03:04  epsilon 2 at delta 1e-06: job risk 00ab (release f0)"},
		{budgetSpending{ID: "00ab", Job: "risk", Table: "rows", Time: at, Outcome: "failed", Failed: true, Epsilon: 2, Delta: 1e-6, Release: "f0"}, "2026-11-02 03:04  epsilon 2 at delta 1e-06: job risk 00ab, which ended without a result (release f0)"},
		{budgetSpending{Job: "risk", Table: "other", Day: "2026-11-02", Epsilon: 2, Delta: 1e-6, Release: "f0"}, "2026-11-02        epsilon 2 at delta 1e-06: job risk, under the table's name other (release f0)"},
	} {
		if got := c.s.text("rows"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
