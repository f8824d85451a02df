package gateway

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Point holds the test of the weights published for an iteration.
type Point struct {
	Iteration int     `json:"iteration"` // steps before these weights
	Testers   uint64  `json:"testing_devices"`
	Accuracy  float64 `json:"accuracy"`
	Majority  float64 `json:"majority_accuracy"` // the share of the larger class
}

// String describes the point in words.
func (p Point) String() string {
	return fmt.Sprintf("step %d: accuracy %.4f of %d testing devices; the larger class %.4f", p.Iteration, p.Accuracy, p.Testers, p.Majority)
}

// tested holds an iteration and its test packages by class.
type tested struct {
	iteration uint32
	tests     [2]secvm.Outcome
}
