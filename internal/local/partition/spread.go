package partition

import (
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
)

// spread leaves each row's label to one of the active parties, of whom each gets its share of
// the rows, drawn from the job's seed.
func spread(j *job.Job, sets []*dataset.Set) {
	order := prg.New(splitKey(j, j.Parties()[0]), "partition/labels").Perm(len(sets[0].Labels))
	from, sum := 0, 0.0
	for i, share := range labelShares(j) {
		sum += share
		to := int(math.Round(sum * float64(len(order))))
		own := make([]string, len(order))
		for _, row := range order[from:to] {
			own[row] = sets[i].Labels[row]
		}
		sets[i].Labels, from = own, to
	}
}

// labelShares returns the active parties' shares of the labels, in the parties' order.
func labelShares(j *job.Job) []float64 {
	active := j.Active()
	shares := make([]float64, len(active))
	for i, name := range active {
		shares[i] = 1 / float64(len(active))
		for _, s := range j.Data.Partition.Labels {
			if s.Party == name {
				shares[i] = s.Share
			}
		}
	}
	return shares
}
