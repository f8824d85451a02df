package fedcfk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that only FedCFK has.
type Details struct {
	Devices *Figures `json:"crowd"`
}

// Figures describes how a job went.
type Figures struct {
	Source      string                  `json:"source"` // of the ratings
	People      int                     `json:"people"`
	Ratings     int                     `json:"training_ratings"` // of all people; training_rows counts those in the second sum
	Items       int                     `json:"items"`            // of the catalogue
	Cut         int64                   `json:"cut"`              // likes that an item needs in the first sum
	Kept        int                     `json:"items_kept"`
	Judged      int                     `json:"people_judged"` // who hold an item out that somebody has in training
	Broadcast   int                     `json:"kernel_bytes"`  // that every device gets
	Sums        []sums.Figures          `json:"sums"`
	Recommended []method.Recommendation `json:"recommended"` // to one person, as that device sees it
	// Recommendations is the path of a table of every device's recommendations. Only a
	// process that plays all devices can write one.
	Recommendations string        `json:"recommendations"`
	Paper           *PaperFigures `json:"paper,omitempty"` // of mode paper
}

// PaperFigures describes how a job in mode paper went, and how much the server could find out
// by the published attacks. The process that plays everybody has judged the attacks, since it
// has the lists.
type PaperFigures struct {
	Rounds int `json:"rounds"`
	Added  int `json:"lists_added"` // over all rounds
	// KernelErrors has, after each round, the mean squared difference of the estimate's values
	// from the values of the kernel of everybody's lists (figure 1 of the paper).
	KernelErrors []float64 `json:"kernel_errors"`
	Requested    uint64    `json:"rows_requested"`
	Indefinite   int       `json:"people_without_convex_weights"`
	// Lists that could be read off the row of an item which one person alone liked in a
	// round, and how many of these lists one person alone can have.
	ListsRead  int `json:"lists_read"`
	ListsNamed int `json:"lists_named"`
	// Solved counts people whose lists follow from sums of several rounds.
	Solved int `json:"lists_by_differences"`
	// Of the items that the server guesses from requests, how many are liked; and
	// of the liked ones, how many it guesses.
	GuessPrecision float64 `json:"decoys_precision"`
	GuessRecall    float64 `json:"decoys_recall"`
}

// present describes a result.
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

// text returns the part of a result's text beside its scores.
func (f *Figures) text(r *method.Result) []method.Block {
	var list []method.Block
	linef := func(format string, args ...any) {
		list = append(list, method.Block{Line: fmt.Sprintf(format, args...)})
	}
	linef("Ratings: %s", f.Source)
	linef("%s; %s", f.scope(), f.counted(r))
	if r.Exact != nil {
		linef("all sums are those of the plain lists, entry for entry: %s", humanize.YesNo(*r.Exact))
	}
	linef("")
	list = append(list, sums.Table(f.Sums))
	if f.Paper == nil {
		linef("kernel between items, to every device: %s", humanize.Bytes(f.Broadcast))
	} else {
		if list := f.Paper.KernelErrors; len(list) > 0 {
			linef("the estimate's mean squared difference from the kernel of all lists: %.2g after the first round, %.2g after the last", list[0], list[len(list)-1])
		}
		linef("rows of the kernel asked for: %d by each device in each round", int(f.Paper.Requested)/max(1, f.People*f.Paper.Rounds))
	}
	for i, r := range f.Recommended {
		if i == 0 {
			linef("\nWhat the first device recommends to its owner")
		}
		linef("  item %-8s  %.4f", r.Item, r.Score)
	}
	if f.Recommendations != "" {
		linef("what each device recommends, which real ones keep to themselves: %s", f.Recommendations)
	}
	return list
}

// curves has figure 1 of the paper.
func (f *Figures) curves() []report.Curve {
	if f.Paper == nil || len(f.Paper.KernelErrors) == 0 {
		return nil
	}
	const most = 20 // steps
	list := f.Paper.KernelErrors
	c := report.Curve{Title: "Mean squared difference of the estimate from the kernel of all lists", X: "round", Lines: []report.Line{{Name: "estimate"}}}
	steps := min(most, len(list))
	for k := range steps {
		round := (k+1)*len(list)/steps - 1
		c.Steps = append(c.Steps, strconv.Itoa(round+1))
		c.Lines[0].Values = append(c.Lines[0].Values, list[round])
	}
	return []report.Curve{c}
}

// counted counts the ratings that anybody knows: parties keep their held-out ratings to
// themselves.
func (f *Figures) counted(r *method.Result) string {
	counted := humanize.Count(r.Training, "rating") + " counted"
	if r.HeldOut == 0 {
		return counted
	}
	return fmt.Sprintf("%s, %s held out by %d people", counted, humanize.Count(r.HeldOut, "rating"), f.Judged)
}

// scope counts the people and items there are to learn from.
func (f *Figures) scope() string {
	if f.Paper != nil {
		return fmt.Sprintf("%d people, %d items; %d rounds", f.People, f.Items, f.Paper.Rounds)
	}
	return fmt.Sprintf("%d people, %d items, %d of them with enough likes (%d)", f.People, f.Items, f.Kept, f.Cut)
}

// summary is the head of the page.
func (f *Figures) summary(j *job.Job, r *method.Result) []report.Row {
	rows := []report.Row{
		{Label: "Data", Value: f.Source},
		{Label: "People", Value: fmt.Sprintf("%d, each with a device; %d items", f.People, f.Items)},
		{Label: "Protocol", Value: j.Protocol.Text()},
		{Label: "Counted", Value: f.scope()},
		{Label: "Kernel", Value: j.Kernel.String()},
		{Label: "Learner", Value: j.Learner.Text()},
		{Label: "Ratings", Value: f.counted(r)},
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

// facts hold the inputs of a job's statement.
type facts struct {
	people        int      // who began the first sum
	first, second []string // whose lists are in each sum
	likes         []int64  // of each item, in the first
	kept          []int
	pairs         []int64 // in the second
}

// absent lists the people whose lists are in the first sum only.
func (f facts) absent() []string {
	in := make(map[string]bool, len(f.second))
	for _, name := range f.second {
		in[name] = true
	}
	return slices.DeleteFunc(slices.Clone(f.first), func(name string) bool { return in[name] })
}

// maxAbsent bounds the names in a statement.
const maxAbsent = 20

// absence names the people who are in the first sum only, and describes what the sums tell of
// them.
func (f facts) absence() string {
	absent := f.absent()
	if len(absent) == 0 {
		return fmt.Sprintf("Both sums are over the same %d people.", len(f.first))
	}
	names := strings.Join(absent[:min(len(absent), maxAbsent)], ", ")
	if more := len(absent) - maxAbsent; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("The first sum is over %d people, the second over %d; in the first only: %s. The second counts no single item, and has %d items for %d people, so that how many like one does not follow from its pairs: no difference of the sums is the list of those who are absent. Statistics may find a trace of it. Of attacks that use that lists hold whole numbers, one simple form alone was tried.",
		len(f.first), len(f.second), names, len(f.kept), len(f.second))
}

// leakage describes in plain words what each role learns, computed for this job.
func (c Devices) leakage(f facts) map[string][]string {
	k := c.Keys()
	corrupted := sums.Share(k.Corrupted, f.people)
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns how many people like each of %d items (%d of them have a single one), and who takes part. It sees no list.", c.Items, sums.Count(f.likes, 1)),
			fmt.Sprintf("For every pair of the %d items with at least %d likes it learns how many of %d people like both: %d pairs have a single one. Whoever knows that a certain person likes both of such a pair knows that this person takes part, and that nobody else who does likes both.",
				len(f.kept), c.Cut(f.people, f.likes), len(f.second), sums.Count(f.pairs, 1)),
			f.absence(),
			"The limit holds against a server that follows the protocol. One that lies about the first sum, or invents people, has any item counted, and the row of an item that one person alone likes is that person's list.",
		},
		"party": {
			fmt.Sprintf("Every device learns who takes part, how many people like each item, and the kernel between %d items (16 bits a value), from which it can work out how many like both of two: what the server learns. What it is recommended stays with it.", len(f.kept)),
		},
		"coalition": {
			fmt.Sprintf("The server with up to %d of the %d devices learns the sums of the others, of at least %d people; with more, nothing is promised.", corrupted, f.people, c.Remaining(f.people)-corrupted),
			"Any device can lie about what it likes, and nobody can tell.",
		},
		"broker": {"Whoever carries the messages learns who sends, when and how much."},
	}
	if k.Ratings > 0 {
		c.tellRatings(lines, f)
	}
	if k.Margin == MarginNone {
		lines["server"] = append(lines["server"], fmt.Sprintf("margin: none counts everybody: %d devices of the server's make an item count that one person alone likes, and lay that person's list open. Use margin: corrupted.", k.Threshold-1))
	}
	if k.Adversary == sums.SemiHonest {
		lines["server"] = append(lines["server"], sums.SemiHonestServer)
	}
	return lines
}

// tellRatings changes the statement for sums of ratings: squares beside the counts of likes, products
// in place of the numbers of people who like two items.
func (c Devices) tellRatings(lines map[string][]string, f facts) {
	server := lines["server"]
	server[0] += " It learns the sum of the squared ratings of each item too: where one person alone likes an item, that tells the person's rating, and where few do, often each rating, but not whose. No limit holds for this: a party takes part only if its policy allows it (ratings: true)."
	server[1] = fmt.Sprintf("For every pair of the %d items with at least %d likes it learns the sum of the products of %d people's ratings: %d pairs have the sum 1, of one person who rates both with 1. A product of two ratings often tells both.",
		len(f.kept), c.Cut(f.people, f.likes), len(f.second), sums.Count(f.pairs, 1))
	lines["party"][0] = fmt.Sprintf("Every device learns who takes part, how many people like each item, the sum of its squared ratings, and the kernel between %d items (16 bits a value), from which it can work out the sums of products: what the server learns. What it is recommended stays with it.", len(f.kept))
}
