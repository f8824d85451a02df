package method

import "github.com/mercer-fl/mercer/internal/learner"

// Repeats holds the figures of a job's runs on several partitions and splits.
type Repeats struct {
	Seeds       []uint64                  `json:"seeds"` // of the runs, in order
	Together    map[string]learner.Spread `json:"together"`
	Pooled      map[string]learner.Spread `json:"pooled,omitempty"`
	ExactKernel map[string]learner.Spread `json:"exact_kernel,omitempty"`
	Alone       []AloneSpread             `json:"alone,omitempty"` // in the order of the parties
	Seconds     learner.Spread            `json:"total_s"`
}

// AloneSpread holds the figures of one party without the others.
type AloneSpread struct {
	Party   string                    `json:"party"`
	Figures map[string]learner.Spread `json:"figures"`
}
