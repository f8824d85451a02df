package job

import "slices"

// Devices gives every person of the ratings a device of its own.
const Devices Direction = "devices"

// CFKOMD is the recommender of learn/komd.
const CFKOMD LearnerName = "cf-komd"

// Adversary says what the clients of a crowd must withstand; see protocol/secagg.
type Adversary string

// The adversaries.
const (
	Active     Adversary = "active"
	SemiHonest Adversary = "semi-honest"
)

// Margin says who is relied upon when FedCFK looks for items that enough people
// like.
type Margin string

// The margins. With MarginCorrupted an item takes part when threshold honest
// people like it, however many corrupted ones pretend to; with MarginNone all
// count, which protects nobody from a server with clients of its own.
const (
	MarginCorrupted Margin = "corrupted"
	MarginNone      Margin = "none"
)

// Defaults of FedCFK. The shares are those of the design's table.
const (
	defaultCorrupted = 0.05
	defaultDropped   = 0.10
	defaultThreshold = 10
	defaultLambda    = 0.1
	maxItemDegree    = 20 // of learn/komd
)

// crowdKeys are the keys of a protocol among a crowd.
func crowdKeys() []string {
	return []string{"adversary", "corrupted", "dropped", "threshold", "margin"}
}

func (p *Protocol) finishCrowd(in *place) error {
	if p.Mode == Paper {
		return in.refuse("mode", "mode paper of fedcfk is not in this version: it adds the same people's lists again and again and asks for rows, both of which give profiles away; use mode: hardened")
	}
	p.Mode = Hardened
	if p.Adversary == "" {
		p.Adversary = Active
	}
	if p.Margin == "" {
		p.Margin = MarginCorrupted
	}
	in.fallback("corrupted", &p.Corrupted, defaultCorrupted)
	in.fallback("dropped", &p.Dropped, defaultDropped)
	for _, share := range []struct {
		key   string
		value float64
	}{{"corrupted", p.Corrupted}, {"dropped", p.Dropped}} {
		if share.value < 0 || share.value >= 1 {
			return in.refuse(share.key, "%s is %g; write a share of the clients from 0 to below 1, such as 0.1", share.key, share.value)
		}
	}
	return in.count("threshold", &p.Threshold, defaultThreshold)
}

// finishRecommender checks that protocol, learner, kernel and data are all of a
// recommender, or none is.
func (j *Job) finishRecommender(in *place) error {
	crowd := j.Protocol.Name == FedCFK
	switch {
	case crowd != (j.Learner.Name == CFKOMD):
		return in.refuse("learner", "protocol %s and learner %s do not go together; fedcfk and cf-komd do", j.Protocol.Name, j.Learner.Name)
	case crowd != (j.Data.Partition.By == Devices):
		return in.refuse("data", "protocol %s and this partition do not go together; fedcfk takes partition: {by: devices}, and others do not", j.Protocol.Name)
	case !crowd && (j.Data.Like != 0 || j.Data.Test.By != ""):
		return in.refuse("data", "like and by are of ratings; protocol %s has none", j.Protocol.Name)
	case !crowd:
		return nil
	case j.Data.Source == "" || j.Data.Label != "" && j.Data.Label != NoLabel || j.Data.ID != "" || j.Data.Folds > 0 || j.Data.Test.Source != "":
		return in.refuse("data", "fedcfk reads one source of ratings; it has no label, id, folds or test source")
	case j.Data.Test.Fraction > 0 && j.Data.Test.By == "":
		return in.refuse("data", "ratings are held out by test: {every: 10}, {by: user-time, fraction: 0.1} or {by: time, fraction: 0.1}")
	case j.Data.Partition.Dropout > j.Protocol.Dropped:
		return in.refuse("data", "dropout is %g, and the protocol gives way to %g only; raise dropped or lower dropout", j.Data.Partition.Dropout, j.Protocol.Dropped)
	case j.Prediction == Open:
		return in.refuse("prediction", "fedcfk has no prediction: open, since every device predicts for itself; remove it")
	case in.given("compare") && j.Compares(Alone):
		return in.refuse("compare", "one person alone has nothing to recommend from; write compare: [pooled] or []")
	case !in.given("compare"):
		j.Compare = []Comparison{Pooled}
	}
	return j.finishItemKernel(in)
}

// finishItemKernel refuses kernels between items that learn/komd does not have.
func (j *Job) finishItemKernel(in *place) error {
	known := []KernelName{Linear, Polynomial, Tanimoto, RBF}
	switch k := j.Kernel; {
	case !slices.Contains(known, k.Name):
		return in.refuse("kernel", "learner cf-komd has no kernel %s; it has %s", k.Name, join(known))
	case k.GammaUnit != "":
		return in.refuse("kernel", "fedcfk has no gamma_unit; give gamma as a number")
	case k.Name == Polynomial && k.Gamma != 1:
		return in.refuse("kernel", "gamma of a kernel between items is %g; it is (C + coef0)^degree, so write gamma: 1", k.Gamma)
	case k.Name == Polynomial && k.Degree > maxItemDegree:
		return in.refuse("kernel", "degree of a kernel between items is %d; write 1 to %d", k.Degree, maxItemDegree)
	}
	return nil
}
