package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method/sums"
)

// Details hold what only results of SecVM have.
type Details struct {
	SecVM *Figures `json:"secvm"`
}

// Figures say how a job went.
type Figures struct {
	Source       string         `json:"source"`
	Devices      int            `json:"devices"`
	Trainers     int            `json:"training_devices"`
	Testers      int            `json:"testing_devices"`
	Windows      int            `json:"windows"`
	Bins         int            `json:"bins"`
	Packages     int            `json:"packages"` // of each device in each window; of mode paper and of sums, at most
	PackageBytes int            `json:"package_bytes"`
	Sums         []sums.Figures `json:"sums,omitempty"` // of each window, where packages are summed and not sent
	Sampled      int            `json:"sampled"`        // devices that had more to say than packages
	Classes      []ClassTest    `json:"classes"`
	PooledC      float64        `json:"pooled_c,omitempty"` // of the best pooled machine
	Averages     []AveragePoint `json:"averages"`
	BinCurve     []BinPoint     `json:"bin_curve,omitempty"`
}

// BinPoint holds the accuracy with another number of bins: figure 3 of the paper.
type BinPoint struct {
	Bins     int     `json:"bins"`
	Accuracy float64 `json:"accuracy"`
}

// ClassTest counts how the testing devices of a class were predicted.
type ClassTest struct {
	Class   string `json:"class"`
	Tested  uint64 `json:"tested"`
	Correct uint64 `json:"correct"`
}

// String says it in words.
func (c ClassTest) String() string {
	return fmt.Sprintf("class %s: %d of %d testing devices predicted right", c.Class, c.Correct, c.Tested)
}

// AveragePoint holds the accuracy of the mean of the last weight vectors after an
// iteration: figure 2 of the paper.
type AveragePoint struct {
	Iteration int     `json:"iteration"`
	Averaged  int     `json:"averaged"`
	Accuracy  float64 `json:"accuracy"`
}
