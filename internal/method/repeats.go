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

// Turns holds the figures of a job that holds each party out in turn.
type Turns struct {
	Parties  []Turn                    `json:"parties"`
	Together map[string]learner.Spread `json:"together"` // over the parties that are held out
	Pooled   map[string]learner.Spread `json:"pooled,omitempty"`
	Seconds  learner.Spread            `json:"total_s"`
}

// Turn holds the figures on all rows of one party, by a model of the others.
type Turn struct {
	Party    string          `json:"party"`
	Training int             `json:"training_rows"`
	HeldOut  int             `json:"held_out_rows"`
	Metrics  learner.Metrics `json:"metrics"`
	Pooled   learner.Metrics `json:"pooled,omitempty"`
	Alone    []Alone         `json:"alone,omitempty"` // of the parties that train
}
