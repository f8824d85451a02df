package learner

import "math"

// Spread summarises the values of a metric over several runs.
type Spread struct {
	Mean float64 `json:"mean"`
	// Deviation is the sample standard deviation, with divisor n-1. It is 0 for a single value.
	Deviation float64   `json:"deviation"`
	Values    []float64 `json:"values"` // values of the runs that have the metric, in order
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

// Spreads summarises each metric over all runs that have the metric. Without runs, it returns nil.
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

// Repeats holds the metrics of a repeated job, whose runs have different partitions and splits.
type Repeats struct {
	Seeds       []uint64          `json:"seeds"` // seeds of the runs, in order
	Together    map[string]Spread `json:"together"`
	Pooled      map[string]Spread `json:"pooled,omitempty"`
	ExactKernel map[string]Spread `json:"exact_kernel,omitempty"`
	Alone       []AloneSpread     `json:"alone,omitempty"` // one element for each party that trained alone, in the job's order
	Seconds     Spread            `json:"total_s"`
}

// AloneSpread holds the metrics of one party alone, over several runs.
type AloneSpread struct {
	Party   string            `json:"party"`
	Figures map[string]Spread `json:"figures"`
}
