package learner

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
)

// A search has as many folds as the job says, and each row is in one of them, with classes, with numbers
// and with groups.
func TestRowsAreInTheJobsFolds(t *testing.T) {
	var labels, groups []string
	for i := range 60 {
		labels, groups = append(labels, []string{"a", "b", "c"}[i%3]), append(groups, fmt.Sprint(i/2))
	}
	for _, k := range []int{2, 5, 10} {
		for name, parts := range map[string]func() ([][]int, error){
			"classes": func() ([][]int, error) { return Folds{K: k, Seed: 1, Task: job.Classes()}.Divide(labels, nil) },
			"numbers": func() ([][]int, error) { return Folds{K: k, Seed: 1}.Divide(labels, nil) },
			"groups":  func() ([][]int, error) { return Folds{K: k, Seed: 1, Task: job.Classes()}.Divide(labels, groups) },
		} {
			got, err := parts()
			seen, rows := make(map[int]bool), 0
			for _, part := range got {
				rows += len(part)
				for _, row := range part {
					seen[row] = true
				}
			}
			if err != nil || len(got) != k || len(seen) != 60 || rows != 60 {
				t.Errorf("%s, %d folds: %d parts of %d rows, %d of them different, %v", name, k, len(got), rows, len(seen), err)
			}
		}
	}
	j := jobOf(false)
	j.Seed, j.Data.Folds = 3, 5
	if f := FoldsOf(j); f.K != 5 || f.Seed != 3 || !f.Task.Classes {
		t.Errorf("a job of 5 folds with seed 3 has the folds %+v", f)
	}
	one, err := Folds{K: 5, Seed: 1}.Divide(labels, nil)
	two, twice := Folds{K: 5, Seed: 2}.Divide(labels, nil)
	if err != nil || twice != nil || cmp.Equal(one, two) {
		t.Errorf("two seeds give the folds %v, %v, %v", one, err, twice)
	}
}
