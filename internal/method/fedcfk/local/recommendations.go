package local

import (
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// shown limits the recommendations that a result shows.
const shown = 5

// recommend lets every device recommend, judges that, and leaves all lists in
// one file. No server has them: this process does, because it plays all devices.
func (p *people) recommend(score func(user int) ([]float64, error)) (err error) {
	lists := make([][]method.Recommendation, len(p.train))
	keeping := func(user int) ([]float64, error) {
		scores, err := score(user)
		if err == nil {
			lists[user] = p.devices[user].Best(scores, p.ratings.Items)
		}
		return scores, err
	}
	p.result.Metrics, p.figures.Judged, err = learner.Ranking(p.crowd.Items, p.train, p.test, keeping)
	if err != nil {
		return err
	}
	for _, profile := range p.test {
		p.result.HeldOut += len(profile)
	}
	errs := make([]error, len(lists))
	linalg.For(len(lists), 4, func(lo, hi int) {
		for user := lo; user < hi; user++ {
			if lists[user] == nil { // nothing of this person is held out
				_, errs[user] = keeping(user)
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	p.figures.Recommended = lists[0][:min(shown, len(lists[0]))]
	p.figures.Recommendations = filepath.Join(p.Dir, "recommendations.csv")
	return disk.ReplaceBy(p.figures.Recommendations, func(w io.Writer) error { return p.writeLists(w, lists) })
}

func (p *people) writeLists(w io.Writer, lists [][]method.Recommendation) error {
	out := csv.NewWriter(w)
	records := [][]string{{"user", "rank", "item", "score"}}
	for user, list := range lists {
		for rank, r := range list {
			records = append(records, []string{p.ratings.Users[user], strconv.Itoa(rank + 1), r.Item, strconv.FormatFloat(r.Score, 'f', 6, 64)})
		}
	}
	return out.WriteAll(records)
}
