package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/metrics"
)

// constant is the best answer that ignores the columns: the commonest class of the training rows (of the held-out rows,
// for a learner without labels), or the mean of the held-out numbers.
type constant struct {
	answer  string
	metrics learner.Metrics
}

// constant returns the constant answer with its metrics on the held-out rows. It returns nil if the
// result lacks the counts of classes and the share of the larger one, or for numbers the metrics rmse and r2, from
// which they are computed, or if r2 is 1.
func (o outcome) constant() *constant {
	if c := constantClass(o.classCounts()); c != nil {
		return c
	}
	if o.shown != nil && o.shown.Majority > 0 {
		return &constant{"the larger class", learner.Metrics{"accuracy": o.shown.Majority}}
	}
	return constantMean(o.Metrics)
}

// classCounts returns the number of rows of each class, or nil if the numbers are unknown.
func (o outcome) classCounts() []learner.ClassCount {
	if o.Figures != nil && o.Figures.Classes != nil {
		return o.Figures.Classes
	}
	return o.classes
}

// constantClass returns the metrics of always predicting the class with the most training rows. A
// learner without labels has no training rows of a class; then the held-out rows decide.
func constantClass(list []learner.ClassCount) *constant {
	common, heldOut, present := learner.ClassCount{}, 0, 0
	for _, c := range list {
		heldOut += c.HeldOut
		if c.HeldOut > 0 {
			present++
		}
		if c.Training > common.Training || c.Training == common.Training && c.HeldOut > common.HeldOut {
			common = c
		}
	}
	if heldOut == 0 {
		return nil
	}
	share := float64(common.HeldOut) / float64(heldOut)
	m := learner.Metrics{"accuracy": share}
	if common.HeldOut > 0 {
		m["balanced_accuracy"], m["auc"] = 1/float64(present), 0.5
		m["f1_macro"] = 2 * share / (1 + share) / float64(present)
	}
	return &constant{common.Class, m}
}

// constantMean returns the metrics of always predicting the mean of the held-out numbers. They
// follow from the error and R2 of the model.
func constantMean(m learner.Metrics) *constant {
	rmse, known := m["rmse"]
	r2, measured := m["r2"]
	if !known || !measured || !(r2 < 1) {
		return nil
	}
	return &constant{"the mean", learner.Metrics{"rmse": rmse / math.Sqrt(1-r2), "r2": 0}}
}

// verdict judges in one sentence how useful the model is.
func (o outcome) verdict() string { return strings.Join(o.verdictClauses(), " ") }

// verdictClauses returns the verdict as a list of clauses. They compare the model with the constant
// answer and with the best site.
func (o outcome) verdictClauses() []string {
	if o.HeldOut > 0 || len(o.Grid) > 0 {
		if _, classes := o.Metrics["accuracy"]; classes {
			return o.classVerdict()
		}
		if _, numbers := o.Metrics["rmse"]; numbers {
			return o.numberVerdict()
		}
		if names := metricNames(o.Metrics); len(names) > 0 {
			return []string{fmt.Sprintf("%s, %s reaches %s %s.", o.onText(), o.modelText(), strings.ReplaceAll(names[0], "_", " "), decimals(o.Metrics[names[0]]))}
		}
	}
	return []string{o.trainedVerdict()}
}

// classVerdict compares the share of right answers with the constant answer and the best site.
func (o outcome) classVerdict() []string {
	c := o.comparisonOf("accuracy")
	places := percentPlaces(c.values())
	share := func(v float64) string { return fmt.Sprintf("%.*f", places, 100*v) }
	return c.clauses(
		fmt.Sprintf("%s, %s is right for %s %%", o.onText(), o.modelText(), share(c.joint)),
		func(answer string, v float64) string {
			return fmt.Sprintf("always answering %s would be right for %s %%", answer, share(v))
		},
		func(party string, v float64) string {
			return fmt.Sprintf("the best single site, %s: %s %%", party, share(v))
		}, share)
}

// numberVerdict compares the error of predicted numbers with that of the constant answer and the
// best site.
func (o outcome) numberVerdict() []string {
	c := o.comparisonOf("rmse")
	size := humanize.ThreeDigits
	return c.clauses(
		fmt.Sprintf("%s, %s has a root mean squared error of %s", o.onText(), o.modelText(), size(c.joint)),
		func(answer string, v float64) string {
			return fmt.Sprintf("always answering %s has %s", answer, size(v))
		},
		func(party string, v float64) string {
			return fmt.Sprintf("the best single site, %s: %s", party, size(v))
		}, size)
}

// comparison holds one metric of the joint model, of the constant answer and of the best site. The
// parts that the result does not have are nil.
type comparison struct {
	metric   string
	joint    float64
	interval *metrics.Interval
	constant *constant
	best     *method.Alone
	splits   *repeated // over the splits of a repeated job; otherwise nil
}

// repeated holds a metric over the splits of a repeated job. The best site is the one with the best
// mean, or "".
type repeated struct {
	joint    learner.Spread
	best     string
	bestMean float64
}

func (o outcome) comparisonOf(metric string) comparison {
	c := comparison{metric, o.Metrics[metric], o.interval(metric), o.constant(), o.bestAlone(metric), nil}
	c.splits = o.overSplits(metric)
	if c.constant != nil {
		if _, known := c.constant.metrics[metric]; !known {
			c.constant = nil
		}
	}
	return c
}

// overSplits returns a metric over the splits of a repeated job, or nil.
func (o outcome) overSplits(metric string) *repeated {
	if o.Repeats == nil {
		return nil
	}
	joint, known := o.Repeats.Together[metric]
	if !known {
		return nil
	}
	r := &repeated{joint: joint}
	for _, a := range o.Repeats.Alone {
		if one, known := a.Figures[metric]; known && (r.best == "" || better(metric, one.Mean, r.bestMean)) {
			r.best, r.bestMean = a.Party, one.Mean
		}
	}
	return r
}

// values lists the metric's values that appear in a verdict, without those over the splits of a repeated job.
func (c comparison) values() []float64 {
	list := []float64{c.joint}
	if c.interval != nil {
		list = append(list, c.interval.Low, c.interval.High)
	}
	if c.constant != nil {
		list = append(list, c.constant.metrics[c.metric])
	}
	if c.best != nil {
		list = append(list, c.best.Metrics[c.metric])
	}
	return list
}

// gain returns the end of the clause about the best site: that joining gained nothing, if the joint model is no
// better than the best site, or that these rows do not show a gain, if the best site's value is within the interval
// of the joint model's. Otherwise it returns "". It also returns "" for a repeated job, whose splits splitsSentence
// judges together.
func (c comparison) gain() string {
	if c.splits != nil {
		return ""
	}
	best := c.best.Metrics[c.metric]
	switch in := c.interval; {
	case !better(c.metric, c.joint, best):
		return ", and joining gained nothing over it here"
	case in != nil && in.Low <= best && best <= in.High:
		return ", within the interval: these rows do not show that joining helps"
	}
	return ""
}

// unit returns what follows a number of the metric: accuracy is in percent.
func (c comparison) unit() string {
	if c.metric == "accuracy" {
		return " %"
	}
	return ""
}

// clauses returns the clauses of a verdict, with punctuation. The interval stands before the
// constant answer.
func (c comparison) clauses(joint string, always, best func(name string, v float64) string, number func(v float64) string) []string {
	var rest []string
	if c.constant != nil {
		rest = append(rest, always(c.constant.answer, c.constant.metrics[c.metric]))
	}
	if c.best != nil {
		rest = append(rest, best(c.best.Party, c.best.Metrics[c.metric])+c.gain())
	}
	list := []string{joint}
	switch in := c.interval; {
	case in != nil && len(rest) > 0:
		rest[0] = fmt.Sprintf("(95 %% interval: %s to %s); %s", number(in.Low), number(in.High), rest[0])
	case in != nil:
		rest = []string{fmt.Sprintf("(95 %% interval: %s to %s)", number(in.Low), number(in.High))}
	case len(rest) > 0:
		list[0] += ";"
	}
	list = append(list, rest...)
	for i := 1; i+1 < len(list); i++ {
		list[i] += ";"
	}
	list[len(list)-1] += "."
	if c.splits != nil {
		list = append(list, c.splitsSentence(number))
	}
	return list
}

// splitsSentence returns the sentence about all splits of a repeated job.
func (c comparison) splitsSentence(number func(v float64) string) string {
	r := c.splits
	text := fmt.Sprintf("Over all splits it is %s in the mean, with a standard deviation of %s", number(r.joint.Mean)+c.unit(), number(r.joint.Deviation)+c.unit())
	if r.best == "" {
		return text + "."
	}
	text += fmt.Sprintf("; the best single site, %s: %s in the mean", r.best, number(r.bestMean)+c.unit())
	switch {
	case !better(c.metric, r.joint.Mean, r.bestMean):
		text += ", and joining gained nothing over it"
	case math.Abs(r.joint.Mean-r.bestMean) < r.joint.Deviation:
		text += ", less than a standard deviation apart"
	}
	return text + "."
}

// trainedVerdict describes a trained model that was not tested on held-out rows.
func (o outcome) trainedVerdict() string {
	on := humanize.Count(o.Training, strings.TrimSuffix(o.trainingUnit(), "s"))
	switch {
	case o.Training == 0:
		return "The job trained no model."
	case o.Eigenvalues != nil:
		return fmt.Sprintf("%s of %s were computed; without labels no figure says how well they predict.", humanize.Count(len(o.Eigenvalues), "component"), on)
	case o.HeldOut == 0 && o.shown != nil && o.shown.Text != nil: // devices do not report on their held-out rows
		return fmt.Sprintf("The model was trained on %s; this result has no figure on how well it predicts.", on)
	case o.HeldOut == 0:
		return fmt.Sprintf("The model was trained on %s; no row was held out, so no figure says how well it predicts.", on)
	}
	return fmt.Sprintf("The model was trained on %s; its predictions were compared with no truth, so no figure says how good they are.", on)
}

// onText returns the words for the rows on which the model was measured, and for their split.
func (o outcome) onText() string {
	if o.Repeats != nil {
		return fmt.Sprintf("In the first of %d splits, on %s", len(o.Repeats.Seeds), o.judgedText())
	}
	return "On " + o.judgedText()
}

// judgedText names the rows on which the metrics are measured.
func (o outcome) judgedText() string {
	unit := strings.TrimSuffix(o.trainingUnit(), "s")
	if o.HeldOut > 0 {
		return humanize.Count(o.HeldOut, unit) + " not used for training"
	}
	return fmt.Sprintf("%s, each held out once", humanize.Count(o.Training, unit))
}

// modelText returns "the joint model", or "the model" for a job of protocol pooled.
func (o outcome) modelText() string {
	if len(o.Leakage) == 1 { // only the operator learns something, as in protocol pooled
		return "the model"
	}
	return "the joint model"
}

// interval returns the 95 % interval of a metric, or nil.
func (o outcome) interval(name string) *metrics.Interval {
	if o.Figures != nil && o.Figures.Intervals[name] != nil {
		return o.Figures.Intervals[name]
	}
	if name == "accuracy" && o.shown != nil && o.shown.Within > 0 {
		return roundedInterval(o.Metrics[name], o.shown.Within, o.HeldOut)
	}
	return nil
}

// roundedInterval returns the 95 % interval of a share of n rows that is known within a rounding
// error: from the lower end of the least possible share to the upper end of the largest.
func roundedInterval(share, within float64, n int) *metrics.Interval {
	least := max(0, int(math.Ceil((share-within)*float64(n)-1e-6)))
	most := min(n, int(math.Floor((share+within)*float64(n)+1e-6)))
	return &metrics.Interval{Low: metrics.Wilson(least, n).Low, High: metrics.Wilson(most, n).High}
}

// bestAlone returns the party whose own model has the best value of a metric, or nil.
func (o outcome) bestAlone(name string) *method.Alone {
	var best *method.Alone
	for i, a := range o.Alone {
		v, has := a.Metrics[name]
		if !has || a.Failure != "" {
			continue
		}
		if best == nil || better(name, v, best.Metrics[name]) {
			best = &o.Alone[i]
		}
	}
	return best
}

// noSite explains a table of scores without a site alone. It returns "" if the table has such a site,
// or if no site could be compared.
func (o outcome) noSite() string {
	if o.job == nil || len(o.Alone) > 0 || len(o.Metrics) == 0 || o.HeldOut == 0 || len(o.job.Parties()) < 2 {
		return ""
	}
	if o.objections.parties == 0 {
		return "Whether joining helps is unknown: no member has all sites' held-out rows; mercer simulate compares, with compare: [alone]."
	}
	return "Whether joining helps is unknown: the job trains no site alone; add compare: [alone]."
}

// sharedCell warns that no site has chosen numbers for itself. It returns "" for a job without a choice.
func (o outcome) sharedCell() string {
	if len(o.Grid) < 2 || len(o.Alone) == 0 {
		return ""
	}
	return "Each site alone has the kernel's and the learner's numbers that all sites chose together; chosen for one site, others may do better."
}

// coarse advises how a job's random features come nearer to the exact kernel, if pooled rows with that
// kernel do clearly better: by a point of accuracy beyond its rounding, or by 5 % of an error. It returns "" otherwise.
// With privacy it advises what outweighs the noise. The notes under the scores say from what pooled rows learn.
func (o outcome) coarse() string {
	exact := o.Pooled
	if o.ExactKernel != nil {
		exact = o.ExactKernel
	}
	if o.job == nil {
		return ""
	}
	_, features := o.job.Protocol.Demands().Limits["directions"]
	right, classes := exact["accuracy"]
	wrong, numbers := exact["rmse"]
	best := right
	switch {
	case features && classes && right-o.Metrics["accuracy"] >= 0.01+o.rounding():
	case features && numbers && o.Metrics["rmse"] >= 1.05*wrong:
		best = wrong
	default:
		return ""
	}
	switch {
	case o.job.Data.Private && o.job.Kernel.Name == job.Linear:
		return fmt.Sprintf("Without noise, pooled rows reach %s. What is missing here is the price of privacy: more rows and a larger epsilon come nearer.", decimals(best))
	case o.job.Data.Private:
		return fmt.Sprintf("Without noise, pooled rows reach %s. What is missing here is the price of privacy, and of random features: more rows and a larger epsilon come nearer, and often kernel: {name: linear}; try other values of gamma.", decimals(best))
	}
	return fmt.Sprintf("With the exact kernel, pooled rows reach %s. The job's random features approximate it: a smaller gamma comes nearer, and so do more rows, and more directions, which reveal more.", decimals(best))
}

// rounding returns by how much the parties' rounding can have changed the accuracy.
func (o outcome) rounding() float64 {
	if o.shown == nil {
		return 0
	}
	return o.shown.Within
}

// errorMetrics lists the metrics whose smaller values are better.
var errorMetrics = []string{"rmse", "mae", "brier"}

// better reports whether the first value of a metric is better than the second.
func better(metric string, first, second float64) bool {
	if slices.Contains(errorMetrics, metric) {
		return first < second
	}
	return first > second
}

// percentPlaces returns how many decimals percentages need. The number is 1 if a share between 0
// and 100 % would be rounded to 0 or 100 %, and otherwise 0.
func percentPlaces(shares []float64) int {
	for _, v := range shares {
		if p := math.Round(100 * v); v > 0 && v < 1 && (p == 0 || p == 100) {
			return 1
		}
	}
	return 0
}
