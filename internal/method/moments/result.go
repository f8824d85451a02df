package moments

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/noised"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that only this method has.
type Details struct {
	Sums *Figures `json:"sums"`
	// Curve shows accuracy and the membership attack for other numbers of random features. A
	// launching process that owns the data computes it.
	Curve []Point `json:"curve,omitempty"`
	// Privacy describes the noise of a job with differential privacy; nil without.
	Privacy *noised.Figures `json:"privacy,omitempty"`
}

// Figures describes how much the sums reveal about single rows.
type Figures struct {
	Features       int     `json:"features"`
	RowsPerFeature float64 `json:"rows_per_feature"` // training rows for each feature
	// Membership is the area under the ROC curve of the leverage attack. It is the mean of the parties'
	// measurements on their own sums, and null if no party has both training and held-out rows, or if the
	// job has privacy.
	Membership *float64 `json:"membership_auc"`
	// Joint is the area under the ROC curve of an attack on the sums of all parties. The attack
	// tests all candidates together and knows a tenth of the members. A launching process that owns
	// up to 2,000 rows, some of them held out, measures it, unless the job has privacy; otherwise it is null.
	Joint *float64 `json:"joint_membership_auc"`
	// Within is the greatest rounding error of a share of held-out rows (accuracy, coverage_95). The
	// error arises because parties round counts to multiples of 5, or to a thousandth of more than 5,000
	// rows. Within is 0 if the result has no such share.
	Within float64 `json:"shares_of_held_out_rows_within,omitempty"`
	// TooFew reports that decisions were counted in bins but are too few for metrics, or of one class only.
	TooFew bool `json:"too_few_for_figures,omitempty"`
}

// Point holds accuracy and the success of the membership attack for one number of random features.
type Point struct {
	RowsPerFeature int     `json:"rows_per_feature"` // least number of training rows for each feature
	Features       int     `json:"features"`
	Draws          int     `json:"draws"` // number of random draws over which the values are means
	Accuracy       float64 `json:"accuracy"`
	Deviation      float64 `json:"accuracy_deviation"` // standard deviation over the draws
	Membership     float64 `json:"membership_auc"`     // area under the ROC curve of the leverage attack on the sums over all rows
}

// present returns the presentation of a result, including how much the sums reveal.
func present(j *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	if err != nil || d == nil || d.Sums == nil {
		return nil, err
	}
	if d.Privacy != nil {
		return d.presentNoise(j, r), nil
	}
	p := &method.Presentation{Within: d.Sums.Within, More: []report.Row{{Label: "Sums", Value: d.Sums.text()}}}
	if text := histogramText(d.Sums, r); text != "" {
		p.More, p.Later = append(p.More, report.Row{Label: "Histogram", Value: text}), []method.Block{{Line: text}}
	}
	if w := d.Sums.Within; w > 0 {
		text := fmt.Sprintf("%d, which each party counts in fives: shares of them (accuracy, coverage) are off by at most %.4f", r.HeldOut, w)
		p.More, p.Notes = append(p.More, report.Row{Label: "Held-out rows", Value: text}), append(p.Notes, "Held-out rows: "+text+".")
	}
	if j != nil && job.As[*Keys](j.Protocol).Directions == 0 {
		p.Settings = fmt.Sprintf(", directions = %d (a twentieth of the training rows)", d.Sums.Features)
	}
	if len(d.Curve) > 0 {
		line := method.Block{Line: "Accuracy and membership leakage by number of random features (0.5 is chance, 1 is certain)"}
		p.Later, p.Curves = append(p.Later, line, curveTable(d.Curve)), []report.Curve{curveLines(d.Curve)}
	}
	return p, nil
}

// presentNoise returns the presentation of a result with privacy.
func (d *Details) presentNoise(j *job.Job, r *method.Result) *method.Presentation {
	p := &method.Presentation{}
	d.Privacy.Show(p, j, r)
	if j != nil {
		p.Learner = fmt.Sprintf("%s, alpha = %.4g (from the noise)", j.Learner.Name(), d.Privacy.Alpha)
	}
	return p
}

// histogramText states the error bound of metrics from a histogram; "" without a histogram.
func histogramText(f *Figures, r *method.Result) string {
	switch a := r.Figures; {
	case a != nil:
		return fmt.Sprintf("%d held-out decisions in %d bins: the area under the ROC curve is off by at most %.4f", r.HeldOut, moments.Bins, a.Curves[0].Within)
	case f.TooFew:
		return fmt.Sprintf("%d held-out decisions in %d bins are too few for figures: parties count in fives, which could move the area under the ROC curve by more than %v", r.HeldOut, moments.Bins, maxAreaError)
	}
	return ""
}

// text describes how much the sums reveal about single rows.
func (f *Figures) text() string {
	text := fmt.Sprintf("%d random features, drawn anew in each run; %.1f rows for each (n/M)", f.Features, f.RowsPerFeature)
	if f.Membership != nil {
		text += fmt.Sprintf("; the leverage of a known row reveals whether it is in a party's own sums, with an area under the curve of %.3f (0.5 is chance, 1 is certain)", *f.Membership)
	}
	if f.Joint != nil {
		return text + fmt.Sprintf("; in the sums of all parties, an attack that tests all candidates together and knows a tenth of the members reaches %.3f", *f.Joint)
	}
	return text + "; a stronger attack, which tests all candidates together, was not measured"
}

// curveTable returns the curve as a table with a row for each number of random features.
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

// curveLines returns the curve as a plot for the report page.
func curveLines(curve []Point) report.Curve {
	c := report.Curve{
		Title: "Accuracy and membership leakage by number of random features", X: "rows for each feature",
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

// rowsPerFeature is the advised number of training rows for each feature of the sums. With fewer
// rows, the sums reveal whether a given row is among the training rows.
const rowsPerFeature = 20

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage() map[string][]string {
	m, n := s.features(), s.sums.Rows
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns sums over the training rows of all %d parties, but no single party's: %d products of features, %s, the number of rows (%d). A sum over few rows exposes them: if a class has one training row, its sum is that row. Each party's minimum row counts prevent this. A value that fewer than %d training rows of a party have is encoded as that party's most common one, or as other. %s",
				len(s.Job.Data.Training(s.Parties)), m*(m+1)/2, s.crossSums(), n, prepare.Least, singledOut),
			s.ratio(),
			fmt.Sprintf("About the held-out rows it learns their number and %s, over all parties, and the mean of the parties' membership figures. Each party rounds counts to fives, or to a thousandth of more than 5,000 rows, and sums to three digits of their mean.", s.errorSums()),
			"An exact sum does not make anyone anonymous: anyone who has it and knows a person's row can guess whether the sum includes that row. Another job over the same rows without one person would reveal that person's features. So each party's release ledger blocks a job whose rows differ from an earlier job's by fewer than 10 people, a job with another schema or other parties, a job over people whose encoded rows were sent (okra), and the 21st job over the same rows. If a party's operator has approved such a job, the server knows what the ledger warned of; if encoded rows of the same people were sent, that is every cell of theirs. The ledger compares jobs in pairs: three jobs whose rows differ by many people can leave few people in their difference.",
			s.falseSolution(),
		},
		"party": {s.partyLearns(), fmt.Sprintf("Every party and the server learn how many training rows each party declares: %s, of %d prepared columns. Nothing proves that these numbers count real rows.", s.declaredRows(), s.counted.columns)},
		"coalition": {
			subtractSums + " With two parties, the server and the other party suffice.",
			s.measuredMembership(), JointUnmeasured,
		},
		"broker": {"The broker sees who sends, when and how much. From the sizes it knows the number of features and of outputs."},
	}
	rows.Leakage(s.Instance, lines, 0)
	if usesHistogram(s.Job) {
		for role, line := range histogramLeakage(s.Parties) {
			lines[role] = append(lines[role], line)
		}
		if room := s.public().room; room > leastRoom {
			lines["broker"] = append(lines["broker"], fmt.Sprintf("From the size of the histograms it knows that the largest party declares more than %d training rows, and at most %d.", room/2, room))
		}
	}
	if name := s.Job.Data.Test.Party; name != "" {
		s.heldOutPartyLeakage(name, lines)
	}
	if s.Job.Data.Test.Column != "" {
		lines["server"] = append(lines["server"], "Together with a job with another bound, the sums reveal the sum over the rows between the two bounds. Each party's ledger blocks every such split until the party's operator approves it.")
	}
	return lines
}

// Sentences of the statement that say who can reconstruct rows.
const (
	singledOut     = "The sums over all parties' rows, which the server learns, still expose a person whom several common values single out together."
	lastRowRead    = "A party that knows all training rows but one, with their labels, computes the remaining row from the model, which every party learns."
	componentsShow = "They show in which directions the features of all rows vary, but not how much."
	binsTell       = "A party that knows all other rows around a bin may learn the class and the approximate decision of the remaining row."
	subtractSums   = "The server and all parties but one together learn the remaining party's sums by subtracting their own."
)

// exposures returns how much of others' rows each role can reconstruct. Sums give no row, but they
// expose people whom few others resemble.
func (s *server) exposures() map[string]protocol.Exposure {
	list := map[string]protocol.Exposure{
		"server":    {Reach: protocol.ReachPart, Why: singledOut},
		"party":     {Reach: protocol.ReachPart, Why: lastRowRead},
		"coalition": {Reach: protocol.ReachPart, Why: subtractSums},
	}
	if s.perFeature() < rowsPerFeature {
		list["server"] = protocol.Exposure{Reach: protocol.ReachPart, Why: s.ratio()}
	}
	switch l := objectiveOf(s.Job).(type) {
	case gaussianProcess:
		if l.deviations {
			list["party"] = protocol.Exposure{Reach: protocol.ReachPart, Why: s.partyLearns()}
		}
	case components:
		list["party"] = protocol.Exposure{Reach: protocol.ReachPart, Why: componentsShow}
	}
	return list
}

// perFeature returns the number of training rows for each feature of the sums.
func (s *server) perFeature() float64 { return float64(s.sums.Rows) / float64(s.features()) }

// histogramLeakage describes what each role also learns from the sum of the parties' histograms.
func histogramLeakage(parties []string) map[string]string {
	lines := map[string]string{
		"server":    fmt.Sprintf("The server also learns how many held-out rows of all parties have which class and a decision in which of %d bins. Each party counts its rows up to each bin in fives, or to a thousandth of its held-out rows. With a forged solution that puts people whom it knows into bins of their own, the server tests each of them at once. For each it needs five people whom the same party is known to hold out; they show where the fives end.", moments.Bins),
		"party":     "Every reader of the result learns from its curves how many rows of each class are in each bin, in fives, but not the bounds of the bins. " + binsTell,
		"coalition": "The server and all parties but one together learn the remaining party's histogram by subtracting their own: the classes of its held-out rows and their decisions to 0.04, in fives and without names.",
	}
	if len(parties) == 2 {
		lines["party"] += fmt.Sprintf(" With two parties, %s and %s each learn nearly the other's histogram this way.", parties[0], parties[1])
	}
	return lines
}

// heldOutPartyLeakage adds to lines the leakage of a job that holds out all rows of the named
// party.
func (s *server) heldOutPartyLeakage(name string, lines map[string][]string) {
	lines["server"] = append(lines["server"], fmt.Sprintf("The figures are over the rows of %s alone. Together with a job that holds out another party, or none, the sums reveal one party's sums by their difference. Each party's ledger blocks every such split until the party's operator approves it.", name))
	training := s.Job.Data.Training(s.Parties)
	if len(training) == 2 {
		lines["coalition"] = append(lines["coalition"], fmt.Sprintf("Two parties train, and %s adds nothing to the sums: the server and one of %s and %s together learn the other's sums.", name, training[0], training[1]))
	}
}

// declaredRows lists in words the parties' declared numbers of training rows.
func (s *server) declaredRows() string {
	var list []string
	for i, n := range s.counted.list {
		list = append(list, fmt.Sprintf("%s %d", s.Parties[i], n))
	}
	return strings.Join(list, ", ")
}

// crossSums describes the sums of features with labels that the server learns.
func (s *server) crossSums() string {
	m := s.features()
	switch l := objectiveOf(s.Job).(type) {
	case classRidge:
		return fmt.Sprintf("%d sums of features by class", m*len(l))
	case components:
		return fmt.Sprintf("%d sums of features", m)
	}
	return fmt.Sprintf("%d sums of features and as many of features times labels, the sum of the labels and the sum of their squares", m)
}

// errorSums describes the sums over held-out rows that the server learns.
func (s *server) errorSums() string {
	switch l := objectiveOf(s.Job).(type) {
	case classRidge:
		return "how many are classified correctly"
	case components:
		return "the squares of their scores"
	case gaussianProcess:
		if l.deviations {
			return "the sums of the labels, of their squares, of the squared errors and of the deviations and how many labels lie within 1.96 of these"
		}
	}
	return "the sums of the labels, of their squares and of the squared errors"
}

// falseSolution describes what a server that sends a forged solution learns about held-out rows.
func (s *server) falseSolution() string {
	const unchecked = "Nobody verifies the solution that the server sends. With a forged one it learns %s about the held-out rows per job. The ledgers' limit of 20 jobs over the same rows bounds this. "
	if _, ok := objectiveOf(s.Job).(classRidge); !ok {
		return fmt.Sprintf(unchecked, "one set of sums") + "Three digits of a mean hide nobody: a solution that is zero for all people but one, whom the server knows, reveals whether that person is held out and, if labels are numbers, the approximate label."
	}
	return fmt.Sprintf(unchecked, "one count") + "It counts how many of some people that the server knows are held out with the labels that it guesses. One job reveals this for a single person if the server knows others who are held out: two at a party with up to 5,000 held-out rows. Otherwise several jobs reveal it, because rounding hides a row only until the server has found where a count tips."
}

// partyLearns describes what every party receives.
func (s *server) partyLearns() string {
	switch l := objectiveOf(s.Job).(type) {
	case components:
		return "Every party learns the components and the public directions, which suffice to compute scores. " + componentsShow
	case gaussianProcess:
		if l.deviations {
			return "Every party learns the solution and the public directions and, for the deviations of a Gaussian process, the sums of products of features, which the server knows too. Without deviations: true in the job it would not learn these sums."
		}
	}
	return "Every party learns the one solution and the public directions, which suffice to predict. One solution gives too few equations to recover the sums. Like any model it predicts its training rows better than others. " + lastRowRead
}

// ratio compares in words the number of training rows with the number of features. With fewer rows
// the sums reveal more about single rows.
func (s *server) ratio() string {
	m, n := s.features(), s.sums.Rows
	per := s.perFeature()
	if per >= rowsPerFeature {
		return fmt.Sprintf("There are %.2f training rows for each feature (n/M = %d/%d).", per, n, m)
	}
	return fmt.Sprintf("There are only %.2f training rows for each feature (n/M = %d/%d): the fewer there are, the better the sums reveal whether a known row is among them. With directions of at most %d there would be %d rows for each.",
		per, n, m, n/rowsPerFeature/2*2, rowsPerFeature)
}

// JointUnmeasured warns that the attack on all candidates together was not measured.
const JointUnmeasured = "A stronger attack, which tests all candidates together and finds more than the leverage, was not measured. Anyone who knows nearly all candidates' rows knows whose rows the sums include."

// JointMeasured states in words the result of the attack that tests all candidates together.
func JointMeasured(auc float64) string {
	return fmt.Sprintf("Measured on the sums of all parties: an attacker who tests all candidates together, and knows a tenth of the training rows and the held-out rows, separates training rows from held-out rows with an area under the curve of %.3f. Anyone who knows nearly all candidates' rows knows whose rows the sums include.", auc)
}

// measuredMembership states in words the parties' measurements of the leverage attack on their own
// sums.
func (s *server) measuredMembership() string {
	if s.measured == 0 {
		return "No party holds out rows, so the membership attack was not measured."
	}
	return fmt.Sprintf("Measured on one party's own sums, which such a coalition knows: the leverage of a row separates that party's training rows from its held-out rows with an area under the curve of %.3f, the mean of %d parties (0.5 is chance, 1 is certain). The sums of all parties cover more rows.",
		s.membership, s.measured)
}
