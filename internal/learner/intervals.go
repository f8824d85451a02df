package learner

import (
	"math"

	"github.com/mercer-fl/mercer/learn/metrics"
)

// ClassIntervals holds the 95 % intervals of a class's figures. Proportions have score intervals,
// and F1 has a bootstrap interval; nil: no interval.
type ClassIntervals struct {
	Class       string            `json:"class"`
	Precision   *metrics.Interval `json:"precision"`
	Recall      *metrics.Interval `json:"recall"`
	Specificity *metrics.Interval `json:"specificity"`
	NPV         *metrics.Interval `json:"npv"`
	F1          *metrics.Interval `json:"f1"`
}

// addIntervals adds the intervals of the figures. Proportions get score intervals, and the other figures get
// bootstrap intervals, unless there are too many rows and classes.
func (r *ratedRows) addIntervals(a *Assessment, confusion *metrics.ConfusionMatrix, seed uint64) error {
	all, f1, err := r.bootstrapIntervals(seed)
	if err != nil {
		return err
	}
	accuracy, proportions := confusion.Proportions()
	all["accuracy"], all["f1_micro"] = accuracy, accuracy
	a.Intervals = all
	if a.PerClass == nil {
		return nil
	}
	for i, class := range confusion.Classes {
		p := proportions[i]
		a.ClassIntervals = append(a.ClassIntervals, ClassIntervals{class, p.Precision, p.Recall, p.Specificity, p.NPV, f1[class]})
	}
	return nil
}

// bootstrapped lists the metrics of a confusion matrix that are not proportions, so that only a
// bootstrap gives their intervals.
var bootstrapped = [...]string{"balanced_accuracy", "f1_macro"}

// bootstrapIntervals returns the bootstrap intervals of the metrics and of each class's F1. It
// returns no intervals if the product of rows and classes exceeds intervalEffort. It resamples the rows of
// each true class separately.
func (r *ratedRows) bootstrapIntervals(seed uint64) (all, f1 map[string]*metrics.Interval, err error) {
	if len(r.truth)*len(r.classes) > intervalEffort {
		return make(map[string]*metrics.Interval), nil, nil
	}
	areas := r.scoreMetrics()
	names := append(bootstrapped[:], areas.names...)
	got, err := metrics.Bootstrap(r.truth, seed, len(names)+len(r.classes), func(times []int, v []float64) {
		c := metrics.Count(r.classes, r.truth, r.predicted, times)
		v[0], v[1] = c.BalancedAccuracy(), c.F1Macro()
		for i, area := range areas.of {
			v[len(bootstrapped)+i] = orNaN(area(times))
		}
		for i, one := range c.PerClass() {
			v[len(names)+i] = orMissing(one.F1)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return intervalsByName(names, got), intervalsByName(r.classes, got[len(names):]), nil
}

// scoreMetricList holds metrics that are computed from scores, by name.
type scoreMetricList struct {
	names []string
	of    []func(times []int) (float64, bool)
}

// scoreMetrics returns the metrics of the rows' scores, except those without a value.
func (r *ratedRows) scoreMetrics() (list scoreMetricList) {
	add := func(name string, f func(times []int) (float64, bool)) {
		list.names, list.of = append(list.names, name), append(list.of, f)
	}
	if r.scores.Rows == 0 || r.untrained {
		return list
	}
	if pairs, err := metrics.RankPairs(r.truth, r.scores); err == nil {
		add("auc", pairs.AUC)
	}
	if len(r.classes) == 2 {
		if ranked, err := metrics.Rank(ofClass(r.truth, 1), r.scores.Column(1)); err == nil {
			add("average_precision", ranked.AveragePrecision)
		}
	}
	if r.probabilities {
		add("brier", r.brier())
	}
	return list
}

// brier returns a function that computes the Brier score of a bootstrap sample. times is the number
// of times that each row is in the sample.
func (r *ratedRows) brier() func(times []int) (float64, bool) {
	errors := make([]float64, len(r.truth))
	for i := range errors {
		v, err := metrics.Brier(r.truth[i:i+1], r.scores.Panel(i, i+1))
		if err != nil {
			v = math.NaN()
		}
		errors[i] = v
	}
	return func(times []int) (float64, bool) {
		sum, n := 0.0, 0
		for i, t := range times {
			sum, n = sum+float64(t)*errors[i], n+t
		}
		return sum / float64(n), sum == sum
	}
}

// addNumberIntervals adds the intervals of a regression's figures.
func addNumberIntervals(a *Assessment, truth, predicted []float64, seed uint64) error {
	n := len(truth)
	if n > intervalEffort {
		return nil
	}
	got, err := metrics.Bootstrap(make([]int, n), seed, 3, func(times []int, v []float64) {
		v[0], v[1], v[2] = numberFigures(truth, predicted, times)
	})
	a.Intervals = intervalsByName([]string{"rmse", "mae", "r2"}, got)
	return err
}

// numberFigures returns rmse, mae and r2 on a bootstrap sample of the rows. times is the number of
// times that each row is in the sample.
func numberFigures(truth, predicted []float64, times []int) (rmse, mae, r2 float64) {
	var mean, squares, sizes, total float64
	n := float64(len(truth))
	for i, t := range times {
		mean += float64(t) * truth[i] / n
	}
	for i, t := range times {
		e, d := truth[i]-predicted[i], truth[i]-mean
		squares, sizes, total = squares+float64(t)*e*e, sizes+float64(t)*math.Abs(e), total+float64(t)*d*d
	}
	r2 = math.NaN()
	if total > 0 {
		r2 = 1 - squares/total
	}
	return math.Sqrt(squares / n), sizes / n, r2
}

// intervalsByName returns the intervals by name; it omits figures without an interval.
func intervalsByName(names []string, got []*metrics.Interval) map[string]*metrics.Interval {
	all := make(map[string]*metrics.Interval)
	for i, name := range names {
		if got != nil && got[i] != nil {
			all[name] = got[i]
		}
	}
	return all
}

func orNaN(v float64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return v
}

func orMissing(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
