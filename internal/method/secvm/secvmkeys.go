package secvm

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/hinge"
)

// Keys holds the settings of protocol secvm in a job file; see protocol/secvm.
type Keys struct {
	job.Moded
	sums.Keys            // the settings of aggregation secagg
	Classes     []string // the two classes, the positive one last; in command simulate, nil means the classes of the data
	Space       FeatureSpace
	Bins        int // the number of bins or columns; 0 means the columns of the table, if one process has it
	Hashes      int // the number of bins into which each feature is hashed; 0 means no hashing
	Packages    int // the largest number of packages that a device can send in each window
	Cohort      int // the smallest number of participants of a step
	Aggregation Aggregation
}

var _ job.Settings = (*Keys)(nil)

// KeysOf returns the settings of a SecVM job.
func KeysOf(j *job.Job) *Keys { return job.As[*Keys](j.Protocol) }

// FeatureSpace selects what a weight belongs to: a bin of hashed features, or a column.
type FeatureSpace string

// The feature spaces. The list of columns is public, and every device has it. A job with hashed
// features leaves its space empty.
const (
	HashedFeatures FeatureSpace = "hashed"
	ColumnFeatures FeatureSpace = "columns"
)

// Unhashed reports whether the features are columns and so are not hashed.
func (k *Keys) Unhashed() bool { return k.Space == ColumnFeatures }

// Aggregation names how the devices' contributions are added up.
type Aggregation string

// The aggregations. With AnonymousPackages, the published way, a server counts packages without
// knowing their senders. With SecureSum it knows who takes part and learns only the sum; see
// protocol/secagg.
const (
	AnonymousPackages Aggregation = "packages"
	SecureSum         Aggregation = "secagg"
)

const defaultBins = 1 << 14

// maxClasses is the largest number of words that the key "classes" can list. A later check requires
// exactly two.
const maxClasses = 256

// Section declares the keys of protocol secvm in a job file. Devices with default limits refuse models
// whose cohort is smaller than the default of the key "cohort".
func (k *Keys) Section() *section.Section {
	return &section.Section{Doc: "Every person has one labelled record in a device. The server counts anonymous packages, or sees secure sums.",
		Fields: slices.Concat([]section.Field{k.ModeKey()}, k.SumKeys(k.summed, " with aggregation secagg"), []section.Field{
			{Key: "classes", Value: section.Words{Dst: &k.Classes, Most: maxClasses, Example: "[ill, well]"}, Else: "the classes of the data, in simulate",
				Doc: "The two classes; the second is the positive one."},
			{Key: "features", Value: section.Choice[FeatureSpace]{Noun: "kind of features", Dst: &k.Space, Known: []FeatureSpace{HashedFeatures, ColumnFeatures}}, Else: "hashed",
				Doc: "What has a weight: bins into which features are hashed, or the columns of a public list."},
			{Key: "bins", Value: section.Whole{Dst: &k.Bins}, Else: "16384, or the table's columns with features columns",
				Doc: "The number of bins of hashed features, or of columns, 1 or more."},
			{Key: "hashes", Value: section.Whole{Dst: &k.Hashes}, Else: "1 with features hashed", Doc: "The number of bins, 1 or more, into which one feature falls."},
			{Key: "packages", Value: section.Whole{Dst: &k.Packages}, Default: "64", Doc: "The number of packages, 1 or more, that every device sends or could send in each window."},
			{Key: "cohort", Value: section.Whole{Dst: &k.Cohort}, Default: "100", Doc: "The smallest number of participants of a step, 1 or more."},
			{Key: "aggregation", Value: section.Choice[Aggregation]{Noun: "aggregation", Dst: &k.Aggregation, Known: []Aggregation{AnonymousPackages, SecureSum}},
				Default: string(AnonymousPackages), Doc: "How the devices' contributions become a sum: by anonymous packages, or by a secure sum."},
		}), Finish: k.finish}
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check}
}

func (k *Keys) summed() bool { return k.Aggregation == SecureSum }

func (k *Keys) finish(in *section.Place) error {
	if len(k.Classes) != 0 && len(k.Classes) != 2 {
		return in.Refuse("classes", `the list "classes" has length %d; name two classes, the positive one last`, len(k.Classes))
	}
	if err := k.finishFeatures(in); err != nil {
		return err
	}
	for _, f := range []struct {
		key   string
		value int
	}{{"packages", k.Packages}, {"cohort", k.Cohort}} {
		if err := in.Some(f.key, f.value); err != nil {
			return err
		}
	}
	if k.summed() {
		if k.Mode == job.Paper {
			return in.Refuse("aggregation", `mode paper sends anonymous packages, not secure sums; remove "mode: paper" or "aggregation: secagg"`)
		}
		return k.FinishSum(in)
	}
	for _, key := range []string{"adversary", "corrupted", "dropped"} {
		if in.Given(key) {
			return in.Refuse(key, `%q is for secure sums; remove it, or add "aggregation: secagg"`, key)
		}
	}
	return nil
}

// finishFeatures sets the defaults of bins and hashes. It leaves the default feature space empty,
// because earlier jobs had no choice.
func (k *Keys) finishFeatures(in *section.Place) error {
	if k.Unhashed() {
		if in.Given("hashes") {
			return in.Refuse("hashes", `"hashes" has no effect with "features: columns"; remove "hashes"`)
		}
		return in.Some("bins", k.Bins)
	}
	k.Space = ""
	if err := in.Count("bins", &k.Bins, defaultBins); err != nil {
		return err
	}
	return in.Count("hashes", &k.Hashes, 1)
}

// check refuses a job whose learner, kernel or data do not suit many devices with one labelled
// record each.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch d := &j.Data; {
	case learner.StepsOf(j) == nil:
		return in.Refuse("learner", "protocol secvm does not run learner %s; it runs %s", j.Learner.Name(), learner.Able(" or ", func(j *job.Job) bool { return learner.StepsOf(j) != nil }))
	case d.Partition.Parties != nil:
		return in.Refuse("data.partition.parties", "secvm runs on anonymous devices; remove \"parties\"")
	case learner.StepsOf(j).Schedule != hinge.Pegasos && k.Mode != job.Paper:
		return in.Refuse("learner", `"schedule: %s" does not bound the weights, and devices need a bound; write "mode: paper" in protocol, or "schedule: pegasos"`, learner.StepsOf(j).Schedule)
	case d.Partition.Dropout > 0 && !k.summed():
		return in.Refuse("data.partition.dropout", `"dropout" is for secure sums; remove it, or add "aggregation: secagg" to protocol`)
	case d.Partition.Dropout > k.Dropped:
		return in.Refuse("data.partition.dropout", "dropout is %g, and the protocol tolerates only %g; raise \"dropped\" or lower \"dropout\"", d.Partition.Dropout, k.Dropped)
	case d.Source == "" || d.ID != "" || d.Folds > 0:
		return in.Refuse("data", "secvm reads one table from \"source\"; remove \"sources\", \"id\" and \"folds\"")
	case j.Kernel.Name != job.Linear:
		return in.Refuse("kernel", "secvm has kernel linear only, not %s", j.Kernel.Name)
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `secvm answers no queries, because every device predicts for itself; remove "prediction: open"`)
	case in.Given("compare") && j.Compares(job.Alone):
		return in.Refuse("compare", `one device alone has a single row; write "compare: [pooled]" or "compare: []"`)
	case !in.Given("compare"):
		j.Compare = []job.Comparison{job.Pooled}
	}
	return nil
}
