package columns

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
)

// Sizes returns how many of n common rows are in training, and how many are held out.
func Sizes(j *job.Job, n int) (train, test int, err error) {
	t, h, err := heldOut(j, n, [32]byte{})
	return len(t), len(h), err
}

// heldOut holds out rows by their place in the common order: only one of the parties
// could go by classes. Which places these are follows from the key that the parties
// alone share.
func heldOut(j *job.Job, n int, key [32]byte) (train, test []int, err error) {
	switch {
	case j.Data.Test == job.Test{}: // folds only
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

// HeldOutLast marks the held-out rows where training rows come first.
func HeldOutLast(train, test int) []bool {
	held := make([]bool, train+test)
	for i := train; i < len(held); i++ {
		held[i] = true
	}
	return held
}
