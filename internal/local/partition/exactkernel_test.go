package partition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
)

// The comparison with the exact kernel is refused if its matrix would not fit: before
// anything else, with the party's name.
func TestExactKernelOfManyRows(t *testing.T) {
	j := parseColumns(t, "{name: gram}\n  kernel: {name: linear}\n  learner: {name: svc}",
		"{name: fdskl}\n  kernel: {name: rbf, gamma: 1}\n  learner: {name: logistic}\n  compare: [exact-kernel]")
	for rows, fits := range map[int]bool{exactRows: true, exactRows * 10 / 9: true, exactRows*10/9 + 2: false} {
		set := &dataset.Set{Name: "many", X: dataset.NewDense(linalg.New[float64](rows, 3)), Labels: make([]string, rows)}
		for i := range set.Labels {
			set.Labels[i] = fmt.Sprint(i % 2)
		}
		_, err := Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return set, nil })
		if fits != (err == nil) || err != nil && !strings.Contains(err.Error(), "guest has 16385 rows; the comparison with the exact kernel allows at most 16384") {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}
