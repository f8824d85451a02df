package bench

import "math"

// Row is one figure with the limit and target that judge it. A field that does not apply is
// nil or empty: not every figure has a limit, not every ratio a target.
type Row struct {
	Name    string   `json:"name"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`    // of Value and Limit
	Against string   `json:"against"` // what Limit is, in words
	Limit   *float64 `json:"limit"`
	Ratio   *float64 `json:"ratio"`    // nil where Limit is 0
	RatioIs string   `json:"ratio_is"` // how Ratio is made of Value and Limit
	// CPURatio is the ratio of processor times in place of wall times: nearer the truth where
	// other programs run. It is nil where Value is neither a time nor a rate.
	CPURatio *float64 `json:"cpu_ratio"`
	Rule     string   `json:"rule"` // when Pass is true
	Target   *float64 `json:"target"`
	Pass     *bool    `json:"pass"`
}

// The ways to compare.
const (
	share      = "value/limit"
	speedUp    = "limit/value"
	difference = "|value-limit|/|limit|"
)

// The rules.
const (
	ratioAtLeast = "ratio >= target"
	ratioAtMost  = "ratio <= target"
	valueAtMost  = "value <= target"
)

// figure is a row without a limit.
func figure(name string, value float64, unit string) Row {
	return Row{Name: name, Value: value, Unit: unit}
}

// beside compares by value/limit: the share of a rate that is reached, the
// multiple of a cost.
func (r Row) beside(against string, limit float64) Row {
	return r.compared(share, against, limit, r.Value/limit)
}

// outruns compares by limit/value: of seconds, how many times faster.
func (r Row) outruns(peer string, seconds float64) Row {
	return r.compared(speedUp, peer, seconds, seconds/r.Value)
}

// agrees compares by the relative difference.
func (r Row) agrees(with string, other float64) Row {
	return r.compared(difference, with, other, math.Abs(r.Value-other)/math.Abs(other))
}

func (r Row) compared(how, against string, limit, ratio float64) Row {
	r.RatioIs, r.Against, r.Limit = how, against, &limit
	r.Ratio = finite(ratio)
	return r
}

// byCPU adds the ratio by processor time.
func (r Row) byCPU(ratio float64) Row {
	r.CPURatio = finite(ratio)
	return r
}

// finite returns nil for a number that JSON cannot hold.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// atLeast passes when there is a ratio and it reaches the target.
func (r Row) atLeast(target float64) Row {
	return r.judged(ratioAtLeast, target, r.Ratio != nil && *r.Ratio >= target)
}

// atMost passes when there is a ratio and it does not exceed the target.
func (r Row) atMost(target float64) Row {
	return r.judged(ratioAtMost, target, r.Ratio != nil && *r.Ratio <= target)
}

// within passes when the value does not exceed the target.
func (r Row) within(target float64) Row { return r.judged(valueAtMost, target, r.Value <= target) }

func (r Row) judged(rule string, target float64, pass bool) Row {
	r.Rule, r.Target, r.Pass = rule, &target, &pass
	return r
}

// Missed reports whether the row has a target and does not reach it.
func (r Row) Missed() bool { return r.Pass != nil && !*r.Pass }
