package fedcfk

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that only FedCFK has.
type Details struct {
	Devices *Figures `json:"crowd"`
}

// Figures holds counts and sizes of a FedCFK job.
type Figures struct {
	Source      string                  `json:"source"` // source of the ratings
	People      int                     `json:"people"`
	Ratings     int                     `json:"training_ratings"` // liked items in all training lists; in a deployed job, in the lists of the first sum
	Items       int                     `json:"items"`            // items in the catalogue
	Cut         int64                   `json:"cut"`              // likes that an item needs in the first sum to be kept
	Kept        int                     `json:"items_kept"`
	Judged      int                     `json:"people_judged"` // people with a training list, and with a held-out item that is in some training list
	Broadcast   int                     `json:"kernel_bytes"`  // size of the kernel that every device receives
	Sums        []sums.Figures          `json:"sums"`
	Recommended []method.Recommendation `json:"recommended"` // recommendations that one device shows
	// Recommendations is the path of a table of every device's recommendations. Only a process that
	// runs all devices can write it.
	Recommendations string        `json:"recommendations"`
	Paper           *PaperFigures `json:"paper,omitempty"` // set in mode paper
}

// PaperFigures holds counts of a job in mode paper and the success of the published attacks. The
// process that runs all members measures the attacks, because it has the lists.
type PaperFigures struct {
	Rounds int `json:"rounds"`
	Added  int `json:"lists_added"` // number of lists that all rounds added up
	// KernelErrors lists, for each round, the mean squared error of the estimated kernel. The true
	// kernel is that of all people's lists (figure 1 of the paper).
	KernelErrors []float64 `json:"kernel_errors"`
	Requested    uint64    `json:"rows_requested"`
	Indefinite   int       `json:"people_without_convex_weights"`
	// ListsRead counts lists that the server could read from the row of an item that only one person
	// liked in a round. ListsNamed counts the read lists that only one person can have.
	ListsRead  int `json:"lists_read"`
	ListsNamed int `json:"lists_named"`
	// Solved counts people whose lists follow from the sums of several rounds together.
	Solved int `json:"lists_by_differences"`
	// GuessPrecision and GuessRecall measure how well the server guesses liked items from requests.
	GuessPrecision float64 `json:"decoys_precision"`
	GuessRecall    float64 `json:"decoys_recall"`
}

// present returns the presentation of a result.
func present(j *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	if err != nil || d == nil || d.Devices == nil {
		return nil, err
	}
	p := &method.Presentation{Unit: "ratings", Pooled: d.Devices.Ratings, Text: d.Devices.text(r), Curves: d.Devices.curves()}
	if j != nil {
		p.Summary = d.Devices.summary(j, r)
	}
	return p, nil
}

// text returns the text of a result except its scores.
func (f *Figures) text(r *method.Result) []method.Block {
	var list []method.Block
	linef := func(format string, args ...any) {
		list = append(list, method.Block{Line: fmt.Sprintf(format, args...)})
	}
	linef("Ratings: %s", f.Source)
	linef("%s; %s", f.scope(), f.ratingsText(r))
	if r.Exact != nil {
		linef("all sums equal those of the plain lists, entry for entry: %s", humanize.YesNo(*r.Exact))
	}
	linef("")
	list = append(list, sums.Table(f.Sums))
	if f.Paper == nil {
		linef("kernel between items, to every device: %s", humanize.Bytes(f.Broadcast))
	} else {
		if list := f.Paper.KernelErrors; len(list) > 0 {
			linef("the estimate's mean squared difference from the kernel of all lists: %.2g after the first round, %.2g after the last", list[0], list[len(list)-1])
		}
		linef("rows of the kernel requested: %d by each device in each round", int(f.Paper.Requested)/max(1, f.People*f.Paper.Rounds))
	}
	for i, r := range f.Recommended {
		if i == 0 {
			linef("\nRecommendations of the first device to its owner")
		}
		linef("  item %-8s  %.4f", r.Item, r.Score)
	}
	if f.Recommendations != "" {
		linef("recommendations of each device, which real devices keep to themselves: %s", f.Recommendations)
	}
	return list
}

// curves returns the errors of the estimated kernel by round, as in figure 1 of the paper.
func (f *Figures) curves() []report.Curve {
	if f.Paper == nil || len(f.Paper.KernelErrors) == 0 {
		return nil
	}
	const maxPoints = 20 // greatest number of points on the curve
	list := f.Paper.KernelErrors
	c := report.Curve{Title: "Mean squared difference of the estimate from the kernel of all lists", X: "round", Lines: []report.Line{{Name: "estimate"}}}
	steps := min(maxPoints, len(list))
	for k := range steps {
		round := (k+1)*len(list)/steps - 1
		c.Steps = append(c.Steps, strconv.Itoa(round+1))
		c.Lines[0].Values = append(c.Lines[0].Values, list[round])
	}
	return []report.Curve{c}
}

// ratingsText describes the ratings that a result counts. Parties do not reveal their held-out
// ratings.
func (f *Figures) ratingsText(r *method.Result) string {
	counted := humanize.Count(r.Training, "rating") + " counted"
	if r.HeldOut == 0 {
		return counted
	}
	return fmt.Sprintf("%s, %s held out by %d people", counted, humanize.Count(r.HeldOut, "rating"), f.Judged)
}

// scope describes how many people and items the job learns from.
func (f *Figures) scope() string {
	if f.Paper != nil {
		return fmt.Sprintf("%d people, %d items; %d rounds", f.People, f.Items, f.Paper.Rounds)
	}
	return fmt.Sprintf("%d people, %d items, %d of them with enough likes (%d)", f.People, f.Items, f.Kept, f.Cut)
}

// summary returns the head of the report page.
func (f *Figures) summary(j *job.Job, r *method.Result) []report.Row {
	rows := []report.Row{
		{Label: "Data", Value: f.Source},
		{Label: "People", Value: fmt.Sprintf("%d, each with a device; %d items", f.People, f.Items)},
		{Label: "Protocol", Value: j.Protocol.Text()},
		{Label: "Counted", Value: f.scope()},
		{Label: "Kernel", Value: j.Kernel.String()},
		{Label: "Learner", Value: j.Learner.Text()},
		{Label: "Ratings", Value: f.ratingsText(r)},
	}
	if f.Paper == nil {
		for _, s := range f.Sums {
			rows = append(rows, report.Row{Label: s.Purpose, Value: sums.Describe(s)})
		}
	}
	if r.Exact != nil {
		rows = append(rows, report.Row{Label: "Sums equal the plain ones", Value: humanize.YesNo(*r.Exact)})
	}
	return rows
}

// facts holds the inputs of a job's statement of leakage.
type facts struct {
	people        int      // people who began the first sum
	first, second []string // people whose lists are in each sum
	likes         []int64  // likes of each item in the first sum
	kept          []int
	pairs         []int64 // counts of pairs in the second sum
}

// absentPeople lists the people whose lists are in the first sum only.
func (f facts) absentPeople() []string {
	in := make(map[string]bool, len(f.second))
	for _, name := range f.second {
		in[name] = true
	}
	return slices.DeleteFunc(slices.Clone(f.first), func(name string) bool { return in[name] })
}

// maxAbsent is the greatest number of absent people that a statement names.
const maxAbsent = 20

// absenceText names the people who are only in the first sum, and describes what the sums reveal
// about them.
func (f facts) absenceText() string {
	absent := f.absentPeople()
	if len(absent) == 0 {
		return fmt.Sprintf("Both sums are over the same %d people.", len(f.first))
	}
	names := humanize.Names(absent, maxAbsent)
	return fmt.Sprintf("The first sum is over %d people, the second over %d; in the first only: %s. The second counts no single item, and has %d items for %d people. So its pairs do not give the number of people who like an item, and no difference of the sums is the list of the absent people. Statistics may find a trace of it. Of the attacks that exploit the whole numbers in lists, only one simple form was tried.",
		len(f.first), len(f.second), names, len(f.kept), len(f.second))
}

// Sentences of the leakage statement that say who can reconstruct lists.
const (
	forgeryReads = "A server that forges the first sum, or invents people, can have any item counted, and the row of an item that only one person likes is that person's list."
	deviceLearns = "So it learns what the server learns."
)

// coalition describes what the server learns together with devices.
func (c Devices) coalition(people int) string {
	corrupted := sums.Share(c.Keys().Corrupted, people)
	return fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d people; with more, there is no guarantee. With all devices but one it reads the remaining person's list.", corrupted, people, c.Remaining(people)-corrupted)
}

// exposures returns how much of others' lists each role can reconstruct.
func (c Devices) exposures(people int) map[string]protocol.Exposure {
	return map[string]protocol.Exposure{
		"server":    c.Keys().ServerExposure(protocol.Exposure{Reach: protocol.ReachPart, Why: forgeryReads}),
		"party":     {Reach: protocol.ReachPart, Why: deviceLearns},
		"coalition": {Reach: protocol.ReachAll, Why: c.coalition(people)},
	}
}

// leakage describes in plain words what each role learns in this job.
func (c Devices) leakage(f facts) map[string][]string {
	k := c.Keys()
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns how many people like each of %d items (%d of them have a single one), and who takes part. It sees no person's list.", c.Items, sums.Count(f.likes, 1)),
			fmt.Sprintf("For every pair of the %d items with at least %d likes it learns how many of %d people like both: %d pairs have a single one. Anyone who knows that a certain person likes both items of such a pair knows that this person takes part, and that no other participant likes both.",
				len(f.kept), c.Cut(f.people, f.likes), len(f.second), sums.Count(f.pairs, 1)),
			f.absenceText(),
			"The minimum number of likes protects against a server that follows the protocol. " + forgeryReads,
		},
		"party": {
			fmt.Sprintf("Every device learns who takes part, how many people like each item, and the kernel between %d items (16 bits a value), from which it can compute how many people like both of two items. %s Its recommendations stay on the device.", len(f.kept), deviceLearns),
		},
		"coalition": {
			c.coalition(f.people),
			"Any device can lie about its owner's likes, and nobody can detect it.",
		},
		"broker": {"The carriers of the messages learn who sends, when and how much."},
	}
	if k.Ratings > 0 {
		c.tellRatings(lines, f)
	}
	if k.Margin == MarginNone {
		lines["server"] = append(lines["server"], fmt.Sprintf("margin: none counts dishonest devices too: with %d devices of its own the server gets an item counted that only one person likes, and so reads that person's list. Use margin: corrupted.", k.Threshold-1))
	}
	k.ServerLeakage(lines)
	return lines
}

// tellRatings changes the statement of leakage for a job with ratings. It adds squared ratings to
// the counts of likes, and replaces counts of pairs by products of ratings.
func (c Devices) tellRatings(lines map[string][]string, f facts) {
	server := lines["server"]
	server[0] += " It also learns the sum of the squared ratings of each item. If only one person likes an item, this reveals the person's rating; if few do, often each rating, but not whose. No limit applies to this: a party takes part only if its policy allows it (ratings: true)."
	server[1] = fmt.Sprintf("For every pair of the %d items with at least %d likes it learns the sum of the products of %d people's ratings: %d pairs have the sum 1, from one person who rates both with 1. A product of two ratings often reveals both.",
		len(f.kept), c.Cut(f.people, f.likes), len(f.second), sums.Count(f.pairs, 1))
	lines["party"][0] = fmt.Sprintf("Every device learns who takes part, how many people like each item, the sum of its squared ratings, and the kernel between %d items (16 bits a value), from which it can compute the sums of products. %s Its recommendations stay on the device.", len(f.kept), deviceLearns)
}
