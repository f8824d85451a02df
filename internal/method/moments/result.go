package moments

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that only this method has.
type Details struct {
	Sums *Figures `json:"sums"`
	// Curve shows the results and the exposure with other numbers of random features,
	// computed by a launching process that owns the data.
	Curve []Point `json:"curve,omitempty"`
}

// Figures describes how much the sums tell of single rows.
type Figures struct {
	Features       int     `json:"features"`
	RowsPerFeature float64 `json:"rows_per_feature"` // of training
	// Membership is the area under the curve of the leverage attack, the mean of the parties'
	// measurements on their own sums; null where no party holds rows out.
	Membership *float64 `json:"membership_auc"`
	// Joint is the measure of the attack that solves for all candidates at once, a tenth of
	// the members among them, on the sums of all. A launching process that owns up to 2,000
	// rows measures it; else it is null.
	Joint *float64 `json:"joint_membership_auc"`
	// Within bounds how far a share of held-out rows is off (accuracy, coverage_95), since parties count
	// in fives; 0 where none is told.
	Within float64 `json:"shares_of_held_out_rows_within,omitempty"`
	// TooFew says that decisions were counted in bins, of too few held-out rows for figures.
	TooFew bool `json:"too_few_for_figures,omitempty"`
}

// Point describes the sums with one number of random features: their results, and what they
// show.
type Point struct {
	RowsPerFeature int     `json:"rows_per_feature"` // of training, at least
	Features       int     `json:"features"`
	Draws          int     `json:"draws"` // of directions, over which the figures are means
	Accuracy       float64 `json:"accuracy"`
	Deviation      float64 `json:"accuracy_deviation"` // standard deviation over the draws
	Membership     float64 `json:"membership_auc"`     // of the leverage attack on the sums over all rows
}

// present shows how much the sums tell.
func present(j *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	if err != nil || d == nil || d.Sums == nil {
		return nil, err
	}
	p := &method.Presentation{More: []report.Row{{Label: "Sums", Value: d.Sums.text()}}}
	if text := histogramText(d.Sums, r); text != "" {
		p.More, p.Later = append(p.More, report.Row{Label: "Histogram", Value: text}), []method.Block{{Line: text}}
	}
	if w := d.Sums.Within; w > 0 {
		text := fmt.Sprintf("%d, which each party counts in fives: shares of them (accuracy, coverage) are off by at most %.4f", r.HeldOut, w)
		p.More, p.Later = append(p.More, report.Row{Label: "Held-out rows", Value: text}), append(p.Later, method.Block{Line: "Held-out rows: " + text})
	}
	if j != nil && job.As[*Keys](j.Protocol).Directions == 0 {
		p.Settings = fmt.Sprintf(", directions = %d (a twentieth of the training rows)", d.Sums.Features)
	}
	if len(d.Curve) > 0 {
		line := method.Block{Line: "What sums of more features give, and how well they tell who is in them (0.5 is blind, 1 certain)"}
		p.Later, p.Curves = append(p.Later, line, curveTable(d.Curve)), []report.Curve{curveLines(d.Curve)}
	}
	return p, nil
}

// histogramText tells how near the figures of a histogram are; "" without one.
func histogramText(f *Figures, r *method.Result) string {
	switch a := r.Figures; {
	case a != nil:
		return fmt.Sprintf("%d held-out decisions in %d bins: the area under the ROC curve is off by at most %.4f", r.HeldOut, moments.Bins, a.Curves[0].Within)
	case f.TooFew:
		return fmt.Sprintf("%d held-out decisions in %d bins are too few for figures: parties count in fives, which could move the area under the ROC curve by more than %v", r.HeldOut, moments.Bins, widest)
	}
	return ""
}

// text describes how much the sums tell of single rows.
func (f *Figures) text() string {
	text := fmt.Sprintf("%d random features, %.1f rows for each (n/M)", f.Features, f.RowsPerFeature)
	if f.Membership != nil {
		text += fmt.Sprintf("; whether a known row is in a party's own sums can be told by its leverage with an area under the curve of %.3f (0.5 is blind, 1 certain)", *f.Membership)
	}
	if f.Joint != nil {
		return text + fmt.Sprintf("; in the sums of all, by solving for all candidates with a tenth of the members known, %.3f", *f.Joint)
	}
	return text + "; solving for all candidates at once, which finds more, is not measured"
}

// curveTable has a row for each number of random features.
func curveTable(curve []Point) method.Block {
	t := method.Block{Header: []string{"rows per feature", "features", "draws", "accuracy", "+-", "membership auc"}}
	for _, p := range curve {
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(p.RowsPerFeature), strconv.Itoa(p.Features), strconv.Itoa(p.Draws),
			fmt.Sprintf("%.4f", p.Accuracy), fmt.Sprintf("%.4f", p.Deviation), fmt.Sprintf("%.4f", p.Membership),
		})
	}
	return t
}

// curveLines draws it on the page.
func curveLines(curve []Point) report.Curve {
	c := report.Curve{
		Title: "What sums of more features give, and what they show", X: "rows for each feature",
		Lines: []report.Line{{Name: "accuracy"}, {Name: "membership AUC"}}, Notes: []report.Note{{Name: "features"}, {Name: "draws"}},
	}
	for _, p := range curve {
		c.Steps = append(c.Steps, strconv.Itoa(p.RowsPerFeature))
		c.Lines[0].Values = append(c.Lines[0].Values, p.Accuracy)
		c.Lines[1].Values = append(c.Lines[1].Values, p.Membership)
		c.Notes[0].Texts = append(c.Notes[0].Texts, strconv.Itoa(p.Features))
		c.Notes[1].Texts = append(c.Notes[1].Texts, strconv.Itoa(p.Draws))
	}
	return c
}

// rowsPerFeature is the advised number of training rows for each feature of the sums; below
// it, membership of the rows shows.
const rowsPerFeature = 20

// leakage describes in plain words what each role learns, computed for this job.
func (s *server) leakage() map[string][]string {
	m, n := s.features(), s.sums.Rows
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns sums over the training rows of all %d parties, and no party's own: %d products of features, %s, the number of rows (%d). Sums of few rows are rows: of a class that has one training row that row, in clear. The limits of each party are what stands against it. A value that fewer than %d training rows of a party have counts as its commonest one, or as other; people whom several common values together single out show all the same.",
				len(s.Job.Data.Training(s.Parties)), m*(m+1)/2, s.crossSums(), n, prepare.Least),
			s.ratio(),
			fmt.Sprintf("Of the held-out rows it learns their number and %s, over all parties; each party rounds counts to fives, or to a thousandth of more than 5,000 rows, and sums to three digits of their mean; and the mean of the parties' membership figures.", s.errorSums()),
			"An exact sum is no anonymity: whoever holds it and knows somebody's row can guess whether it is in. Another job on the same rows but one person would give that person's features: each party's release ledger holds a job whose rows differ from an earlier one's by fewer than 10 people, one with another schema or other parties, one beside encoded rows of the same people (okra), and the 21st over the same rows. If a party's operator has approved such a job, the server knows what the ledger said of it: beside encoded rows of the same people, every cell of theirs. The ledger compares jobs two by two: three whose rows differ by many can leave few people in their difference.",
			s.falseSolution(),
		},
		"party": {s.partyLearns(), fmt.Sprintf("Every party and the server learn how many training rows each party declares: %s, of %d prepared columns. Nothing binds these numbers to real rows.", s.declaredRows(), s.counted.columns)},
		"coalition": {
			"The server and all parties but one learn that one's sums by taking off their own. With two parties, the other one and the server suffice.",
			s.measuredMembership(), JointUnmeasured,
		},
		"broker": {"The broker sees who talks, when and how much: from the sizes it knows the number of features and of outputs."},
	}
	rows.Leakage(s.Instance, lines, 0)
	if counted(s.Job) {
		for role, line := range histogramLeakage(s.Parties) {
			lines[role] = append(lines[role], line)
		}
	}
	if name := s.Job.Data.Test.Party; name != "" {
		s.tested(name, lines)
	}
	if s.Job.Data.Test.Column != "" {
		lines["server"] = append(lines["server"], "Beside a job with another bound, the difference of the sums is that over the rows between the two: each ledger holds every such split until its operator approves it.")
	}
	return lines
}

// histogramLeakage tells what the sum of the parties' histograms adds for each role.
func histogramLeakage(parties []string) map[string]string {
	lines := map[string]string{
		"server":    fmt.Sprintf("The server also learns how many held-out rows of all parties have which class and a decision in which of %d bins, each party's rows up to each bin in fives, or to a thousandth of its held-out rows. A false solution that puts people whom the server knows into bins of their own asks about each of them at once: five people for each, whom the same party is known to hold out, tell where the fives end.", moments.Bins),
		"party":     "Whoever reads the result learns from its curves how many rows of each class are in bin after bin, in fives, though not where the bins lie: a party that knows all other rows around a bin may learn the class and about the decision of the one that is left.",
		"coalition": "The server and all parties but one learn that one's histogram by taking off their own: of its held-out rows in fives, without a name, the class and the decision to 0.04.",
	}
	if len(parties) == 2 {
		lines["party"] += fmt.Sprintf(" Of two parties, each of %s and %s so learns nearly the other's histogram.", parties[0], parties[1])
	}
	return lines
}

// tested tells what is learnt where all rows of a party are held out.
func (s *server) tested(name string, lines map[string][]string) {
	lines["server"] = append(lines["server"], fmt.Sprintf("The figures are %s's own: no other party's rows are mixed into them. Beside a job that holds out another party, or none, the difference of the sums is one party's: each ledger holds every such split until its operator approves it.", name))
	training := s.Job.Data.Training(s.Parties)
	if len(training) == 2 {
		lines["coalition"] = append(lines["coalition"], fmt.Sprintf("Two parties train, and %s adds nothing to the sums: the server with one of %s and %s has the other's sums.", name, training[0], training[1]))
	}
}

// declaredRows lists the parties' numbers of training rows.
func (s *server) declaredRows() string {
	var list []string
	for i, n := range s.counted.list {
		list = append(list, fmt.Sprintf("%s %d", s.Parties[i], n))
	}
	return strings.Join(list, ", ")
}

// crossSums describes the sums of features and labels together that the server learns.
func (s *server) crossSums() string {
	m := s.features()
	switch l := objectiveOf(s.Job).(type) {
	case classRidge:
		return fmt.Sprintf("%d sums of features by class", m*len(l))
	case components:
		return fmt.Sprintf("%d sums of features", m)
	}
	return fmt.Sprintf("%d sums of features and as many of features times labels, the sum of the labels and that of their squares", m)
}

// errorSums describes the sums over held-out rows that the server learns.
func (s *server) errorSums() string {
	switch l := objectiveOf(s.Job).(type) {
	case classRidge:
		return "how many are decided rightly"
	case components:
		return "the squares of their scores"
	case process:
		if l.deviations {
			return "the sums of the labels, of their squares, of the squared errors and of the deviations and how many labels lie within 1.96 of these"
		}
	}
	return "the sums of the labels, of their squares and of the squared errors"
}

// falseSolution describes what a server learns of held-out rows if it tells a false solution.
func (s *server) falseSolution() string {
	const unchecked = "The server tells the solution, and nobody checks it: a false one asks one question about all held-out rows for each job. The ledgers' 20 jobs over the same rows are what bounds it. "
	if _, ok := objectiveOf(s.Job).(classRidge); !ok {
		return unchecked + "Three digits of a mean hide nobody: a solution that is nothing for all but one person whom the server knows tells whether that person is held out, and of labels that are numbers about the label, too."
	}
	return unchecked + "The answer is how many of some people that the server knows are held out, with the labels that it guesses: one job tells a single person beside others who are known to be held out, two of a party with up to 5,000 such rows. Without these several jobs do, since rounding hides a row only until the server has found where a count tips."
}

// partyLearns describes what every party is told.
func (s *server) partyLearns() string {
	switch l := objectiveOf(s.Job).(type) {
	case components:
		return "Every party learns the components and the public directions: all that is needed for scores. They tell in which directions the features of all rows vary, and not how much."
	case process:
		if l.deviations {
			return "Every party learns the solution and the public directions and, for the deviations of a Gaussian process, the sums of products of features: of these it knows what the server knows. Without deviations: true in the job it would not."
		}
	}
	return "Every party learns the one solution and the public directions: all that is needed to predict. One solution is too few equations for the sums. Like any model it is better at the rows that it was made of."
}

// ratio compares the number of training rows with the number of features: the fewer rows, the
// more the sums tell of single rows.
func (s *server) ratio() string {
	m, n := s.features(), s.sums.Rows
	per := float64(n) / float64(m)
	if per >= rowsPerFeature {
		return fmt.Sprintf("There are %.2f training rows for each feature (n/M = %d/%d).", per, n, m)
	}
	return fmt.Sprintf("There are only %.2f training rows for each feature (n/M = %d/%d): the fewer, the better the sums tell whether a known row is among them. Directions of at most %d would leave %d rows for each.",
		per, n, m, n/rowsPerFeature/2*2, rowsPerFeature)
}

// JointUnmeasured warns of a stronger attack than the measured one, where the stronger one
// has not been tried.
const JointUnmeasured = "Not measured: the attack that solves for all candidates at once and finds more than the leverage. Whoever knows nearly all candidates' rows knows who is in."

// JointMeasured reports the stronger attack where it was tried.
func JointMeasured(auc float64) string {
	return fmt.Sprintf("Measured on the sums of all: whoever solves for all candidates at once, and knows a tenth of the training rows and the held-out ones, tells the two apart with an area under the curve of %.3f. Whoever knows nearly all candidates' rows knows who is in.", auc)
}

// measuredMembership reports the parties' measurements on their own sums.
func (s *server) measuredMembership() string {
	if s.measured == 0 {
		return "No party holds rows out to try the membership attack with."
	}
	return fmt.Sprintf("Measured: with one party's sums laid bare, as against such a coalition, the leverage of a row tells that party's training rows from its held-out rows with an area under the curve of %.3f, the mean of %d parties (0.5 is blind, 1 certain). The sums of all are of more rows.",
		s.membership, s.measured)
}
