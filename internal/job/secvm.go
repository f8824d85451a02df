package job

import "github.com/mercer-fl/mercer/internal/job/section"

// LinearSVM is the support vector machine of learn/hinge.
const LinearSVM LearnerName = "linear-svm"

// Schedule says how long a step of linear-svm is; see learn/hinge.
type Schedule string

// The schedules.
const (
	Pegasos   Schedule = "pegasos"
	Published Schedule = "published"
)

// Defaults of SecVM. Devices refuse models with a smaller cohort.
const (
	defaultBins         = 1 << 14
	defaultPackages     = 64
	defaultCohort       = 100
	defaultIterations   = 300
	defaultAverage      = 2 // as published
	defaultLinearLambda = 1e-3
)

// Aggregation says how what SecVM's devices have to say becomes a sum.
type Aggregation string

// The aggregations. With AnonymousPackages a server counts packages of which it
// does not know who sent them, as published. With SecureSum it knows who takes
// part and gets the sum only; see protocol/secagg.
const (
	AnonymousPackages Aggregation = "packages"
	SecureSum         Aggregation = "secagg"
)

// secvmKeys are SecVM's own keys.
func secvmKeys() []string { return []string{"bins", "hashes", "packages", "cohort", "aggregation"} }

// lambda is a learner's default.
func (n LearnerName) lambda() float64 {
	switch n {
	case LinearSVM:
		return defaultLinearLambda
	case CFKOMD:
		return defaultLambda
	}
	return defaultRandomLambda
}

func (p *Protocol) finishSecVM(in *section.Place) error {
	if p.Mode == "" {
		p.Mode = Hardened
	}
	if len(p.Classes) != 0 && len(p.Classes) != 2 {
		return in.Refuse("classes", "secvm tells two classes apart; name two, the second is the positive one")
	}
	for _, f := range []struct {
		key      string
		dst      *int
		fallback int
	}{{"bins", &p.Bins, defaultBins}, {"hashes", &p.Hashes, 1}, {"packages", &p.Packages, defaultPackages}, {"cohort", &p.Cohort, defaultCohort}} {
		if err := in.Count(f.key, f.dst, f.fallback); err != nil {
			return err
		}
	}
	return p.finishAggregation(in)
}

func (p *Protocol) finishAggregation(in *section.Place) error {
	if p.Aggregation == "" {
		p.Aggregation = AnonymousPackages
	}
	if p.Aggregation == SecureSum {
		if p.Mode == Paper {
			return in.Refuse("aggregation", "mode paper has anonymous packages; remove one of the two")
		}
		return p.finishSum(in)
	}
	for _, key := range sumKeys() {
		if in.Given(key) {
			return in.Refuse(key, "%s is of secvm's sums; remove it, or add aggregation: secagg", key)
		}
	}
	return nil
}

// finishSecVM checks that protocol, learner, kernel and data are all of a crowd
// with one labelled record each, or none is.
func (j *Job) finishSecVM(in *section.Place) error {
	crowd := j.Protocol.Name == SecVM
	switch {
	case crowd != (j.Learner.Name == LinearSVM):
		return in.Refuse("learner", "protocol %s and learner %s do not go together; secvm and linear-svm do", j.Protocol.Name, j.Learner.Name)
	case !crowd && j.Protocol.Name != FedCFK && j.Data.Partition.By == Devices:
		return in.Refuse("data", "protocol %s has no devices; partition: {by: rows, parties: [north, south]}", j.Protocol.Name)
	case !crowd:
		return nil
	case j.Data.Partition.Parties != nil && j.Data.Partition.By == Devices:
		return in.Refuse("data", "secvm has devices that nobody knows by name; remove parties")
	case j.Learner.Schedule == Published && j.Protocol.Mode != Paper:
		return in.Refuse("learner", "schedule: published keeps the weights in no ball, so that devices could not tell how large they may be; write mode: paper in protocol, or schedule: pegasos")
	case j.Data.Partition.By != Devices:
		return in.Refuse("data", "secvm has a device for each row; write partition: {by: devices}")
	case j.Data.Partition.Dropout > 0 && j.Protocol.Aggregation != SecureSum:
		return in.Refuse("data", "dropout is of devices that are summed; remove it, or add aggregation: secagg to protocol")
	case j.Data.Partition.Dropout > j.Protocol.Dropped:
		return in.Refuse("data", "dropout is %g, and the protocol gives way to %g only; raise dropped or lower dropout", j.Data.Partition.Dropout, j.Protocol.Dropped)
	case j.Data.Source == "" || j.Data.ID != "" || j.Data.Folds > 0:
		return in.Refuse("data", "secvm reads one source; it has no sources, id or folds")
	case j.Kernel.Name != Linear:
		return in.Refuse("kernel", "secvm has kernel linear only, not %s", j.Kernel.Name)
	case j.Prediction == Open:
		return in.Refuse("prediction", "secvm has no prediction: open, since every device predicts for itself; remove it")
	case in.Given("compare") && j.Compares(Alone):
		return in.Refuse("compare", "one device alone has a single row; write compare: [pooled] or []")
	case !in.Given("compare"):
		j.Compare = []Comparison{Pooled}
	}
	return nil
}
