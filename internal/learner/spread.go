package learner

import "math"

// Spread summarises a figure over several runs.
type Spread struct {
	Mean float64 `json:"mean"`
	// Deviation is the sample standard deviation, with the number of values minus one as divisor.
	// It is 0 for one value.
	Deviation float64   `json:"deviation"`
	Values    []float64 `json:"values"` // of the runs that have the figure, in order
}

// SpreadOf summarises one or more values.
func SpreadOf(values []float64) Spread {
	s := Spread{Values: values}
	for _, v := range values {
		s.Mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return s
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(squares / float64(len(values)-1))
	return s
}

// Spreads summarises each figure that any run has; nil without any. A figure that some runs lack,
// such as an AUC if the held-out rows lack a class, is summarised over the others.
func Spreads(runs []Metrics) map[string]Spread {
	values := make(map[string][]float64)
	for _, m := range runs {
		for name, v := range m {
			values[name] = append(values[name], v)
		}
	}
	if len(values) == 0 {
		return nil
	}
	all := make(map[string]Spread, len(values))
	for name, list := range values {
		all[name] = SpreadOf(list)
	}
	return all
}

// Repeats holds the figures of a job's runs on several partitions and splits.
type Repeats struct {
	Seeds       []uint64          `json:"seeds"` // of the runs, in order
	Together    map[string]Spread `json:"together"`
	Pooled      map[string]Spread `json:"pooled,omitempty"`
	ExactKernel map[string]Spread `json:"exact_kernel,omitempty"`
	Alone       []AloneSpread     `json:"alone,omitempty"` // in the order of the parties
	Seconds     Spread            `json:"total_s"`
}

// AloneSpread holds the figures of one party alone.
type AloneSpread struct {
	Party   string            `json:"party"`
	Figures map[string]Spread `json:"figures"`
}
