package fedcfk

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/sums"
)

// Keys holds the protocol's settings in a job.
type Keys struct {
	job.Moded
	Rounds int // number of rounds in mode paper
	sums.Keys
	Threshold int // least number of likes that an item needs to take part
	Margin    Margin
	// Items is the catalogue, in the order of the sums. If it is nil, a process that has all
	// ratings uses the items in the ratings.
	Items []string
	// Ratings is the greatest permitted rating if the job adds up products of ratings. It is 0 if
	// the job adds up likes.
	Ratings int

	// The following settings are for mode paper.
	Once          bool    // each person takes part in one round, and the server adds up the rounds
	Participation float64 // share of the people who take part in a round
	Decoys        int     // number of other items that a device requests with each liked item
	Omitted       float64 // share of the liked items that a request leaves out
}

var _ job.Settings = (*Keys)(nil)

// Margin names the people whose likes count when FedCFK selects items with enough likes.
type Margin string

// The margins. With MarginCorrupted an item takes part only if at least Threshold honest people
// like the item, however many corrupted people pretend to like it. With MarginNone all people
// count, which gives no protection from a server with clients of its own.
const (
	MarginCorrupted Margin = "corrupted"
	MarginNone      Margin = "none"
)

const defaultThreshold = 10

// maxRating is the greatest permitted rating. It suffices for scales of stars, grades and percents.
const maxRating = 100

// MaxItems is the greatest number of items in a catalogue, because a device holds a kernel between
// all items.
const MaxItems = 1 << 13

// Section declares the protocol's keys in a job file.
func (k *Keys) Section() *section.Section {
	always := func() bool { return true }
	return &section.Section{Doc: "Every person has a list of ratings in a device. The coordinator sees how many people like two items together, for popular items only.",
		Fields: slices.Concat([]section.Field{
			k.ModeKey(),
			{Key: "rounds", Value: section.Whole{Dst: &k.Rounds}, Else: "100 in mode paper", Doc: "The number of rounds of mode paper, 1 to 10000."},
		}, k.SumKeys(always, ""), []section.Field{
			{Key: "threshold", Value: section.Whole{Dst: &k.Threshold}, Else: "10; none in mode paper",
				Doc: "The smallest number of people, 2 or more, who must like an item for it to take part."},
			{Key: "margin", Value: section.Choice[Margin]{Noun: "margin", Dst: &k.Margin, Known: []Margin{MarginCorrupted, MarginNone}}, Else: "corrupted; none in mode paper",
				Doc: "The margin above the threshold: the number of people who may be corrupted, or none."},
			{Key: "items", Value: section.Words{Dst: &k.Items, Most: MaxItems, Example: "[alien, brazil]"}, Else: "the items that the ratings name, in simulate",
				Doc: "The catalogue: all items there are, up to 8192, in the order of the sums."},
			{Key: "ratings", Value: section.Whole{Dst: &k.Ratings}, Else: "none: every liked item counts as 1",
				Doc: "The greatest rating, 2 to 100, where the kernel is of ratings, which are whole numbers from 1 on. The server then learns more."},
			{Key: "once", Value: section.Yes{Dst: &k.Once}, Default: "false",
				Doc: "True puts each person into one round of mode paper and adds the rounds up, where the paper keeps the largest counts."},
			{Key: "participation", Value: section.Number{Dst: &k.Participation}, Else: "0.1 in mode paper",
				Doc: "The share of the people, above 0 and up to 1, who take part in a round of mode paper."},
			{Key: "decoys", Value: section.Whole{Dst: &k.Decoys}, Else: "3 in mode paper",
				Doc: "The number of other items, 1 or more, that a device of mode paper requests with each liked item."},
			{Key: "omitted", Value: section.AlsoZero{Number: section.Number{Dst: &k.Omitted}, Counts: k.paper}, Else: "0.2 in mode paper",
				Doc: "The share of the liked items, below 1, that a request of mode paper leaves out."},
		}), Finish: k.finish}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Rates: k.Ratings > 0}
}

func (k *Keys) paper() bool { return k.Mode == job.Paper }

func (k *Keys) finish(in *section.Place) error {
	if err := k.FinishSum(in); err != nil {
		return err
	}
	if k.paper() {
		return k.finishPaper(in)
	}
	for _, key := range []string{"rounds", "once", "participation", "decoys", "omitted"} {
		if in.Given(key) {
			return in.Refuse(key, `%q is a key of mode paper of fedcfk, and this mode exposes lists; remove the key, or add "mode: paper" to reproduce the paper`, key)
		}
	}
	if k.Margin == "" {
		k.Margin = MarginCorrupted
	}
	if in.Given("ratings") && (k.Ratings < 2 || k.Ratings > maxRating) {
		return in.Refuse("ratings", "ratings is %d; write the greatest rating, 2 to %d, such as 5", k.Ratings, maxRating)
	}
	if err := in.Count("threshold", &k.Threshold, defaultThreshold); err != nil {
		return err
	}
	if k.Threshold == 1 {
		return in.Refuse("threshold", "threshold is 1; the row of an item that one person likes is that person's list, so write 2 or more, such as 10")
	}
	return nil
}

// check refuses a job whose learner, kernel or data do not fit a recommender.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch d := &j.Data; {
	case learner.ProfileOf(j) == nil:
		return in.Refuse("learner", "protocol fedcfk does not run learner %s; it runs %s", j.Learner.Name(), learner.Able(" or ", func(j *job.Job) bool { return learner.ProfileOf(j) != nil }))
	case d.Source == "" || d.Label != "" && d.Label != job.NoLabel || d.ID != "" || d.Folds > 0 || d.Test.Source != "":
		return in.Refuse("data", `fedcfk reads ratings from one "source"; remove "sources", "label", "id", "folds" and the source of "test"`)
	case d.Test.Fraction > 0 && d.Test.By == "":
		return in.Refuse("data.test", `"fraction" alone does not say which ratings are held out; write "test: {every: 10}", "test: {by: user-time, fraction: 0.1}" or "test: {by: time, fraction: 0.1}"`)
	case d.Partition.Dropout > k.Dropped:
		return in.Refuse("data.partition.dropout", "dropout is %g, and the protocol tolerates only %g; raise \"dropped\" or lower \"dropout\"", d.Partition.Dropout, k.Dropped)
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `fedcfk answers no queries, because every device predicts for itself; remove "prediction: open"`)
	case in.Given("compare") && j.Compares(job.Alone):
		return in.Refuse("compare", `one person alone has nothing to recommend from; write "compare: [pooled]" or "compare: []"`)
	case !in.Given("compare"):
		j.Compare = []job.Comparison{job.Pooled}
	}
	if err := checkKernel(j.Kernel, in); err != nil {
		return err
	}
	if k.Ratings > 0 && (j.Kernel.Name == job.Tanimoto || slices.Contains(job.BooleanKernels(), j.Kernel.Name)) {
		return in.Refuse("kernel", "the %s kernel compares lists of likes, not ratings; remove \"ratings\", or use kernel linear, polynomial, dot-product or rbf", j.Kernel.Name)
	}
	return nil
}

// checkKernel refuses kernels that learn/komd does not support between items.
func checkKernel(k job.Kernel, in *section.Place) error {
	public := append([]job.KernelName{job.Linear, job.Polynomial, job.DotProduct, job.Tanimoto, job.RBF}, job.BooleanKernels()...)
	switch {
	case !slices.Contains(public, k.Name):
		return in.Refuse("kernel", "learner cf-komd has no kernel %s; it has %s", k.Name, section.Join(public))
	case k.GammaUnit != "":
		return in.Refuse("kernel", "fedcfk has no gamma_unit; give gamma as a number")
	case k.Amplitude != 0:
		return in.Refuse("kernel", `a kernel between items has no amplitude, since its values are scaled to at most 1; remove "amplitude"`)
	case k.Name == job.Polynomial && k.Gamma != 1:
		return in.Refuse("kernel", `gamma of a kernel between items is %g; the kernel is (C + coef0)^degree of the counts C, so write "gamma: 1"`, k.Gamma)
	case k.Name == job.Polynomial && k.Degree > job.MaxItemDegree:
		return in.Refuse("kernel", "degree of a kernel between items is %d; write 1 to %d", k.Degree, job.MaxItemDegree)
	case len(k.Coefficients) > job.MaxItemDegree+1:
		return in.Refuse("kernel", "a kernel between items allows powers up to %d, but the kernel has %d coefficients", job.MaxItemDegree, len(k.Coefficients))
	}
	return nil
}

// Defaults of mode paper. The paper tries rounds with 1 % to 50 % of all people. It gives no
// numbers for requests.
const (
	defaultRounds        = 100
	defaultParticipation = 0.1
	defaultDecoys        = 3
	defaultOmitted       = 0.2
	maxRounds            = 10000
)

func (k *Keys) finishPaper(in *section.Place) error {
	if in.Given("ratings") {
		return in.Refuse("ratings", `mode paper of fedcfk counts likes; remove "ratings", or use "mode: hardened"`)
	}
	for _, key := range []string{"threshold", "margin"} {
		if in.Given(key) {
			return in.Refuse(key, `mode paper of fedcfk counts every item, however few like it; remove %q, or use "mode: hardened"`, key)
		}
	}
	in.Fallback("participation", &k.Participation, defaultParticipation)
	in.Fallback("omitted", &k.Omitted, defaultOmitted)
	if err := in.Count("decoys", &k.Decoys, defaultDecoys); err != nil {
		return err
	}
	rounds := defaultRounds
	if k.Once && k.Participation > 0 {
		rounds = k.Groups()
	}
	if err := in.Count("rounds", &k.Rounds, rounds); err != nil {
		return err
	}
	switch {
	case k.Once && k.Participation > 0 && k.Rounds > k.Groups():
		return in.Refuse("rounds", `rounds is %d; with "once: true" and participation %g at most %d rounds are possible`, k.Rounds, k.Participation, k.Groups())
	case k.Rounds > maxRounds:
		return in.Refuse("rounds", "rounds is %d; write 1 to %d", k.Rounds, maxRounds)
	case k.Participation <= 0 || k.Participation > 1:
		return in.Refuse("participation", "participation is %g; write the share of the people in each round, above 0 and up to 1, such as 0.1", k.Participation)
	}
	return in.Share("omitted", "the liked items", k.Omitted)
}

// Groups returns the number of rounds after which every person has taken part once.
func (k *Keys) Groups() int { return int(1/k.Participation + 1e-9) }
