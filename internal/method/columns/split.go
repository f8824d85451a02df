// Package columns has the common code of the methods for parties that hold different columns of the
// same people.
package columns

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Sizes returns how many of n common rows are for training and how many are held out.
func Sizes(j *job.Job, n int) (train, test int, err error) {
	t, h, err := heldOut(j, n, [32]byte{})
	return len(t), len(h), err
}

// heldOut selects training rows and held-out rows by their places in the common order. It cannot
// select by class, because perhaps only one party has the labels. If the job holds out a fraction, the
// places follow from the key.
func heldOut(j *job.Job, n int, key [32]byte) (train, test []int, err error) {
	switch {
	case j.Data.Test == job.Test{}: // the job has only cross-validation folds
		return dataset.Complement(n, nil), nil, nil
	case j.Data.Test.Every > 0:
		return dataset.Every(n, j.Data.Test.Every)
	case n < 2:
		return nil, nil, fmt.Errorf("columns: %d rows cannot be split; at least two are needed", n)
	}
	size := min(max(int(math.Round(j.Data.Test.Fraction*float64(n))), 1), n-1)
	test = prg.New(key, "stage/split").Perm(n)[:size]
	slices.Sort(test)
	return dataset.Complement(n, test), test, nil
}

// byKey returns the rows in an order that follows from their ids and the key only.
func byKey(ids []string, rows []int, key [32]byte) []int {
	sorted := slices.SortedFunc(slices.Values(rows), func(a, b int) int { return strings.Compare(ids[a], ids[b]) })
	order := make([]int, len(rows))
	for i, k := range prg.New(key, "stage/chosen").Perm(len(rows)) {
		order[i] = sorted[k]
	}
	return order
}

// HeldOutLast returns one flag per row, which is true for held-out rows. Training rows come before
// held-out rows.
func HeldOutLast(train, test int) []bool {
	held := make([]bool, train+test)
	for i := train; i < len(held); i++ {
		held[i] = true
	}
	return held
}

// Keys holds the job's settings for the alignment; see protocol/psi.
type Keys struct {
	// MaxIDs is the largest number of ids that each party may bring to the alignment. So MaxIDs also
	// limits how many ids a party can look up in the other parties' tables.
	MaxIDs int
}

// mostIDs is the largest value that a job may set for max_ids.
const mostIDs = 1 << 22

// IDsKey declares the job file's key max_ids.
func (k *Keys) IDsKey() section.Field {
	return section.Field{
		Key: "max_ids", Value: section.Whole{Dst: &k.MaxIDs}, Default: "1048576",
		Doc: "The largest number of ids, up to 4194304, that a party may bring to the alignment.",
	}
}

// CheckIDs refuses a value of max_ids outside its limits.
func (k *Keys) CheckIDs(in *section.Place) error {
	if k.MaxIDs < 1 || k.MaxIDs > mostIDs {
		return in.Refuse("max_ids", "max_ids is %d; write how many rows a party may bring, from 1 to %d", k.MaxIDs, mostIDs)
	}
	return nil
}
