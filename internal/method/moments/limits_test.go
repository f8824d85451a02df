package moments

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/linalg"
)

// The strongest adversary is a server that may write many jobs: sums over few rows,
// or over few rows of a class, are those rows.
func TestLimitsOfSums(t *testing.T) {
	j := &job.Job{Protocol: job.Named{Kind: Protocol(), Values: new(Keys)}, Learner: job.Named{Kind: learner.RidgeClassifier{}, Values: new(learner.RidgeClassifier)}, Data: job.Data{Label: "y", Test: job.Test{Fraction: 0.5}}}
	split := func(training, held, rare int) method.Split {
		s := method.Split{Set: &dataset.Set{X: dataset.NewDense(linalg.New[float64](training+held, 1))}}
		for i := range training + held {
			label := "common"
			if i < rare {
				label = "rare"
			}
			s.Set.Labels, s.Test = append(s.Set.Labels, label), append(s.Test, i >= training)
		}
		return s
	}
	visits := func(s method.Split, each int) method.Split {
		for i := range s.Test {
			s.Set.Groups = append(s.Set.Groups, fmt.Sprint("patient ", i/each))
		}
		return s
	}
	for name, tt := range map[string]struct {
		split method.Split
		want  string
	}{
		"visits of ten":   {visits(split(100, 50, 20), 2), ""},
		"visits of nine":  {visits(split(100, 50, 18), 2), `protocol moments needs at least 10 training rows of each class that a party has, and this table has 9 of class "rare"; leave them out, or lower class_rows in the limits of its policy`},
		"enough":          {split(100, 50, 10), ""},
		"none of a class": {split(100, 50, 0), ""},
		"training rows":   {split(99, 50, 10), "protocol moments needs at least 100 training rows from each party, and this table has 99 (training_rows in the limits of its policy)"},
		"held-out rows":   {split(100, 49, 10), "protocol moments needs at least 50 held-out rows from each party, and this table has 49 (held_out_rows in the limits of its policy)"},
		"a rare class":    {split(100, 50, 9), `protocol moments needs at least 10 training rows of each class that a party has, and this table has 9 of class "rare"; leave them out, or lower class_rows in the limits of its policy`},
		"one of a class":  {split(100, 50, 1), `protocol moments needs at least 10 training rows of each class that a party has, and this table has 1 of class "rare"; leave them out, or lower class_rows in the limits of its policy`},
	} {
		err := rows.CheckSplit(method.DefaultLimits(), j, tt.split)
		if got := strings.TrimPrefix(fmt.Sprint(err), "<nil>"); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if err != nil && (fault.CodeOf(err) != fault.CodePolicy || strings.ContainsAny(fault.NoticeOf(err).Sentence(), "0123456789") || strings.Contains(fault.NoticeOf(err).Sentence(), "rare")) {
			t.Errorf("%s: peers hear %q with code %d", name, fault.NoticeOf(err).Sentence(), fault.CodeOf(err))
		}
		if err := rows.CheckSplit(method.Limits{}, j, tt.split); err != nil {
			t.Errorf("%s, without limits: %v", name, err)
		}
	}
}

// For a party whose rows are all held out, the limits apply to the rows of the figures; the others
// need not hold out rows.
func TestLimitsOfAWholeParty(t *testing.T) {
	j := &job.Job{Protocol: job.Named{Kind: Protocol(), Values: new(Keys)}, Learner: job.Named{Kind: learner.RidgeClassifier{}, Values: new(learner.RidgeClassifier)}, Data: job.Data{Label: "y", Test: job.Test{Party: "east"}}}
	for name, tt := range map[string]struct {
		rows, rare int
		held       bool
		want       string
	}{
		"east":                    {50, 10, true, ""},
		"few of east":             {49, 10, true, "this table has 49 (held_out_rows in the limits of its policy)"},
		"a rare class of east":    {50, 9, true, `this table has 9 of class "rare"`},
		"another":                 {100, 10, false, ""},
		"few of another":          {99, 10, false, "protocol moments needs at least 100 training rows"},
		"a rare class of another": {100, 9, false, "protocol moments needs at least 10 training rows of each class"},
	} {
		s := method.Split{Set: &dataset.Set{X: dataset.NewDense(linalg.New[float64](tt.rows, 1))}}
		for i := range tt.rows {
			s.Test, s.Set.Labels = append(s.Test, tt.held), append(s.Set.Labels, "common")
			if i < tt.rare {
				s.Set.Labels[i] = "rare"
			}
		}
		err := rows.CheckSplit(method.DefaultLimits(), j, s)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err != nil && (fault.CodeOf(err) != fault.CodePolicy || strings.ContainsAny(fault.NoticeOf(err).Sentence(), "0123456789")) {
			t.Errorf("%s: peers hear %q", name, fault.NoticeOf(err).Sentence())
		}
	}
}

// Sums are over the training rows: two jobs over an unchanged table that hold out one row each
// differ by two people.
func TestAttackHoldingOutOneRowEach(t *testing.T) {
	set := &dataset.Set{X: dataset.NewDense(linalg.New[float64](200, 3))}
	ledger := disclosure.Ledger(t.TempDir())
	j := lessonJob(t, "none", ", directions: 4", "name: kpca, n_components: 3")
	holdingOut := func(held ...int) method.Release {
		c := method.Instance{Job: j, Coordinator: "hub", Parties: []string{"north", "south"}}
		p := &party{Party: &rows.Party{Instance: c, Self: "north", Split: method.Split{Set: set, Test: make([]bool, 200)}}}
		for _, i := range held {
			p.Split.Test[i] = true
		}
		list, err := p.release()
		if err != nil {
			t.Fatal(err)
		}
		r := list[0]
		r.Model = "a job"
		return r
	}
	id, err := ledger.Admit(disclosure.Asker{}, holdingOut(100), 0)
	if err == nil {
		err = ledger.Release(method.ReleaseSums, id)
	}
	if err != nil {
		t.Fatal(err)
	}
	var refused *disclosure.HeldError
	if _, err := ledger.Admit(disclosure.Asker{}, holdingOut(101), 0); !errors.As(err, &refused) {
		t.Errorf("error %v, want that the release is held", err)
	}
	half := make([]int, 60)
	for i := range half {
		half[i] = i
	}
	if _, err := ledger.Admit(disclosure.Asker{}, holdingOut(half...), 0); err != nil {
		t.Errorf("a job that holds out 60 other rows: %v", err)
	}
}

// A number to be predicted that few rows have beside one commonest number would be these rows' sum: one
// honest job by ridge read the row of the only one of 1,201 whose number was not 0.
func TestAttackFewNumbersBesideTheCommonest(t *testing.T) {
	j := &job.Job{Protocol: job.Named{Kind: Protocol(), Values: new(Keys)}, Learner: job.Named{Kind: learner.Ridge{}, Values: new(learner.Ridge)}, Data: job.Data{Label: "days", Test: job.Test{Fraction: 0.5}}}
	split := func(others int) method.Split {
		s := method.Split{Set: &dataset.Set{X: dataset.NewDense(linalg.New[float64](150, 1))}}
		for i := range 150 {
			label := []string{"0", "0.0"}[i%2]
			if i < others {
				label = fmt.Sprint(7 + i)
			}
			s.Set.Labels, s.Test = append(s.Set.Labels, label), append(s.Test, i >= 100)
		}
		return s
	}
	for others, refused := range map[int]bool{0: false, 1: true, 9: true, 10: false, 60: false} {
		err := rows.CheckSplit(method.DefaultLimits(), j, split(others))
		if (err != nil) != refused || refused && fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("%d rows with another number: %v", others, err)
		}
	}
}
