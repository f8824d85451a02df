package method

import "github.com/mercer-fl/mercer/internal/learner"

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
