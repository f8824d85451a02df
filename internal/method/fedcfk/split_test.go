package fedcfk

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
)

// like, every and by select the ratings for training and for evaluation.
func TestSplit(t *testing.T) {
	r := &dataset.Ratings{Users: []string{"1", "2"}, Items: []string{"1", "2", "3"}, Timed: true, List: []dataset.Rating{
		{User: 0, Item: 0, Value: 5, Time: 9}, {User: 0, Item: 1, Value: -1, Time: 3}, {User: 0, Item: 2, Value: 4, Time: 8},
		{User: 1, Item: 0, Value: 4, Time: 4}, {User: 1, Item: 1, Value: 4, Time: 2},
	}}
	for name, tt := range map[string]struct {
		data        job.Data
		train, test [][]int
	}{
		"every":           {job.Data{Test: job.Test{Every: 2}}, [][]int{{0, 2}, {0}}, [][]int{{1}, {1}}},
		"liked":           {job.Data{Like: 4, Test: job.Test{Every: 2}}, [][]int{{0}, {0}}, [][]int{{2}, {1}}},
		"liked at all":    {job.Data{Like: 1, Test: job.Test{Every: 2}}, [][]int{{0}, {0}}, [][]int{{2}, {1}}},
		"newest of all":   {job.Data{Test: job.Test{By: job.Time, Fraction: .4}}, [][]int{{1}, {0, 1}}, [][]int{{0, 2}, nil}},
		"liked, newest":   {job.Data{Like: 4, Test: job.Test{By: job.Time, Fraction: .5}}, [][]int{nil, {0, 1}}, [][]int{{0, 2}, nil}},
		"liked, of every": {job.Data{Like: 4, Test: job.Test{By: job.UserTime, Fraction: .5}}, [][]int{{2}, {1}}, [][]int{{0}, {0}}},
		"newest of every": {job.Data{Test: job.Test{By: job.UserTime, Fraction: .5}}, [][]int{{1, 2}, {1}}, [][]int{{0}, {0}}},
	} {
		train, test, err := Split(&job.Job{Data: tt.data}, r)
		if d := cmp.Diff(tt.train, train) + cmp.Diff(tt.test, test); d != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}
