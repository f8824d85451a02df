package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// outcome is a job's result in the form that commands show.
type outcome struct {
	*method.Result
	Report string // path of the HTML page
	// Predictions is the path of the table of held-out rows. The field table holds this table, or
	// nil.
	Predictions string
	table       *sheet
	shown       *method.Presentation // how the method presents the result, or nil
	besides     []beside             // outcomes of further jobs on the same rows
	// classes counts the rows of each class. It is nil unless this process owns all rows. The result's own counts
	// are used first, if it has them.
	classes    []learner.ClassCount
	job        *job.Job // nil if unknown, as in results of earlier versions
	columns    int      // number of columns from which the job learns; 0 if unknown
	objections objections
	notices    noticeList
	verbose    bool     // also print the details
	files      []string // paths of other files that the command has written
	described  string   // flags of mercer predict that describe the training table; "" for none
	next       string   // the command that usually follows, or advice on it; "" for none
}

// MarshalJSON writes the result, the figures of further jobs, the titles of the classes, and the paths of the report
// and the predictions.
func (o outcome) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(o.Result)
	for _, other := range o.besides {
		if err == nil {
			b, err = withKey(b, other.key, other.figures)
		}
	}
	if titles := o.titles(); err == nil && titles != nil {
		b, err = withKey(b, "titles", titles)
	}
	if err == nil && o.Report != "" {
		b, err = withKey(b, "report", o.Report)
	}
	if err == nil && o.Predictions != "" {
		b, err = withKey(b, "predictions", o.Predictions)
	}
	return b, err
}

// withKey adds a key to a JSON object that already has keys.
func withKey(object []byte, key string, value any) ([]byte, error) {
	b, err := json.Marshal(value)
	return fmt.Appendf(object[:len(object)-1], `,%q:%s}`, key, b), err
}

// titles returns the titles of the classes, or nil if there are none.
func (o outcome) titles() job.Titles {
	if o.job == nil {
		return nil
	}
	return o.job.Data.Titles
}

// titled returns a copy of the outcome for people, in which titles replace classes.
func (o outcome) titled() outcome {
	titles := o.titles()
	if titles == nil {
		return o
	}
	result := *o.Result
	result.Figures, o.classes = result.Figures.Titled(titles.Of), learner.TitledCounts(o.classes, titles.Of)
	o.Result = &result
	return o
}

// Print writes the verdict, the scores, who can reconstruct rows, the notices, the files, and the
// next command. With verbose, it writes the details before the files.
func (o outcome) Print(w io.Writer) error {
	o = o.titled()
	p := &printer{w: w}
	o.printVerdict(p)
	o.printScores(p)
	o.printPrivacy(p)
	o.printNotices(p)
	if o.verbose {
		o.printDetails(p)
	}
	o.printFiles(p)
	return p.err
}

// printVerdict prints what is predicted, and the verdict, one clause on a line.
func (o outcome) printVerdict(p *printer) {
	if s := o.subject(); s != "" {
		p.linef("%s", paragraph(s))
	}
	for _, clause := range o.verdictClauses() {
		p.linef("%s", paragraph(clause))
	}
	p.linef("")
}

// printScores prints the table of scores and explains missing scores. It also prints the tables
// over several runs.
func (o outcome) printScores(p *printer) {
	p.join(o.scores().print(p.w))
	for _, line := range slices.Concat(o.methodNotes(), o.scoreNotes()) {
		p.linef("%s", paragraph(line))
	}
	if o.Repeats != nil {
		p.linef("\nMean and standard deviation over %d splits; all other figures are the first split's", len(o.Repeats.Seeds))
		p.join(o.spreads().print(p.w))
	}
	if o.LeaveOneSiteOut != nil {
		p.linef("\nLeave one site out: figures of each party, by a model of the others; all other figures are for %s held out", o.LeaveOneSiteOut.Parties[0].Party)
		p.join(o.sites().print(p.w))
	}
}

// methodNotes returns the method's sentences about the scores and the model. A report page says the same in its head.
func (o outcome) methodNotes() []string {
	if o.shown == nil {
		return nil
	}
	return o.shown.Notes
}

// scoreNotes names the missing scores, with the reasons, and says what the scores of sites and pooled rows leave open.
func (o outcome) scoreNotes() (lines []string) {
	for _, a := range o.Alone {
		if a.Failure != "" {
			lines = append(lines, fmt.Sprintf("%s alone cannot learn this: %s", a.Party, a.Failure))
		}
	}
	if o.Figures != nil && len(o.Figures.Untrained()) > 0 {
		lines = append(lines, fmt.Sprintf("no auc: %s has held-out rows and no training rows", strings.Join(o.Figures.Untrained(), ", ")))
	}
	for _, line := range []string{o.noSite(), o.sharedCell(), o.coarse()} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// printPrivacy prints who can reconstruct rows, and why.
func (o outcome) printPrivacy(p *printer) {
	lines := privacyLines(o.Exposures)
	if len(lines) > 0 {
		p.linef("")
	}
	for _, line := range lines {
		p.linef("%s", paragraph(line))
	}
}

// printDetails prints the contents of the report that the short output leaves out.
func (o outcome) printDetails(p *printer) {
	w := p.w
	if o.shown != nil && o.shown.Text != nil {
		p.blocks(w, o.shown.Text)
	} else {
		p.linef("\n%s in training, %s%s", humanize.Count(o.Training, "row"), describeHeldOut(o.Result), o.supportText())
	}
	for _, other := range o.besides {
		p.linef("together, %s: %s", other.title, paragraph(other.said))
	}
	if o.Eigenvalues != nil {
		p.linef("eigenvalues: %s", paragraph(fmt.Sprintf("%.6g", o.Eigenvalues)))
	}
	if o.Difference != nil {
		p.linef("largest difference to the decisions of pooled training on equally prepared rows: %.2g%s", *o.Difference, o.agreement())
	}
	if l := o.Components; l != nil {
		p.linef("components compared with pooled, up to sign: mean squared error %.2g%s", l.MSE, formatR2(l.R2))
	}
	p.figures(w, figureTables(o.Metrics, o.Figures))
	if len(o.Grid) > 0 {
		p.linef("\nGrid, chosen by %s", o.gridScore())
		p.join(gridTable(o.Grid).print(w))
	}
	if o.shown != nil && o.shown.Later != nil {
		p.blocks(w, o.shown.Later)
	}
	if len(o.Parties) > 0 {
		p.linef("")
		p.join(o.costs().print(w))
	}
	if len(o.Timings) > 0 { // a party's own result has no costs
		p.linef("\ntime: %s", o.times())
	}
	if n := o.Network; n != nil {
		p.linef("network: %s in %s would take %.2f s on the link that the job describes, in addition to the time above", humanize.Bytes(n.Bytes), humanize.Count(int(n.Messages), "message"), n.Seconds)
	}
	p.printLeakage(o.Leakage)
	if o.ModelHash != "" {
		p.linef("\nmodel_sha256: %s", o.ModelHash)
	}
}

// printFiles prints the paths of a run's files and the next command.
func (o outcome) printFiles(p *printer) {
	p.linef("")
	for _, line := range o.fileLines() {
		p.linef("%s", line)
	}
}

// fileLines lists the paths of a run's files and the next command.
func (o outcome) fileLines() (lines []string) {
	for _, m := range o.Models {
		lines = append(lines, fmt.Sprintf("model of %s: %s%s", m.Party, describeModel(m), o.rowsIn(m)))
	}
	if o.Predictions != "" {
		lines = append(lines, "predictions: "+o.Predictions)
	}
	if o.Report != "" {
		lines = append(lines, "report: "+o.Report)
	}
	lines = append(lines, o.files...)
	if o.next != "" {
		lines = append(lines, "next: "+o.next)
	}
	return lines
}

// describeModel returns a text that says where a model is stored.
func describeModel(m method.ModelFile) string {
	switch {
	case m.Path != "" && m.Private:
		return m.Path + " (private: it holds encoded rows and must stay there)"
	case m.Path != "" && isPart(m.Path):
		return m.Path + " (the coordinator's part, which predicts nothing alone)"
	case m.Path != "":
		return m.Path
	case m.NoFile != "":
		return "no file: it " + m.NoFile
	case m.Private:
		return "private: it holds encoded rows, and is retained, sealed, only with prediction: open"
	}
	return "sealed in its home; mercer job download"
}

// rowsIn returns a remark on the training rows that a model file of pooled training holds in clear.
func (o outcome) rowsIn(m method.ModelFile) string {
	if len(o.Leakage) != 1 || o.Support == 0 || m.Path == "" || m.Private { // only pooled training has one role
		return ""
	}
	return fmt.Sprintf(" (it holds %s in clear; keep it where the rows may be)", humanize.Count(o.Support, "training row"))
}

// supportText returns a text that says how many training rows the model holds. The model of a
// support vector machine holds only some training rows. The models of most other learners hold all.
func (o outcome) supportText() string {
	switch o.Support {
	case 0:
		return ""
	case o.Training:
		return "; the model holds all rows in training"
	}
	return ", " + humanize.Count(o.Support, "support vector")
}

// gridScore returns the name of the score by which a cell of the grid was chosen.
func (o outcome) gridScore() string {
	switch folds := len(o.Grid[0].Folds); folds {
	case 0:
	case 1:
		return "the score over all training rows, each left out by itself"
	default:
		return fmt.Sprintf("the mean over %d folds", folds)
	}
	return nameScore(o.Grid[0].Score) + " on the training rows"
}

// nameScore returns the name of a score as a text.
func nameScore(score string) string {
	if score == "gcv" {
		return "the lowest generalised cross-validation (gcv)"
	}
	return "the highest " + strings.ReplaceAll(score, "_", " ")
}

// formatR2 formats a coefficient of determination; it returns "" for nil.
func formatR2(r2 *float64) string {
	if r2 == nil {
		return ""
	}
	return fmt.Sprintf(", R2 %.12g", *r2)
}

// agreement returns words that say whether the job and the pooled training give equal predictions.
// The words end a sentence about the pooled training.
func (o outcome) agreement() string {
	if o.Exact == nil {
		return ""
	}
	return "; every prediction the same: " + humanize.YesNo(*o.Exact)
}

// printLeakage prints what each role learns about the data of others.
func (p *printer) printLeakage(leakage map[string][]string) {
	p.linef("\nWhat each role learnt")
	for _, role := range method.Roles() {
		for i, line := range leakage[role] {
			p.linef("%s", listItem(role, i, line))
		}
	}
}

// listItem returns a line of a list. The first line of the list starts with the name of the list.
func listItem(name string, i int, text string) string {
	if i > 0 {
		name = ""
	}
	const indent = "             "
	return fmt.Sprintf("  %-9s  %s", name, strings.ReplaceAll(paragraph(text), "\n", "\n"+indent))
}

// costs returns the table of each party's traffic and resources.
func (o outcome) costs() *tableOf {
	t := &tableOf{header: []string{"party", "process", "sent", "received", "cpu s", "peak memory"}}
	for _, m := range o.Parties {
		t.add(m.Name, m.PID, humanize.Bytes(m.Sent), humanize.Bytes(m.Received), fmt.Sprintf("%.2f", m.CPU), humanize.Bytes(m.PeakRSS))
	}
	return t
}

func (o outcome) times() string {
	var parts []string
	for _, name := range timingNames(o.Timings) {
		parts = append(parts, fmt.Sprintf("%s %.2f s", stageTitle(name), o.Timings[name]))
	}
	return fmt.Sprintf("%s; processors %.2f s", strings.Join(parts, ", "), o.Timings["cpu_s"])
}

// stageTitle returns the name of a stage for people. The stage "errors" adds up how far predictions
// of held-out rows are from the truth; its name would look like a failure.
func stageTitle(name string) string {
	if name == "errors" {
		return "sums over held-out rows"
	}
	return name
}

// timingNames returns the names of steps in the order in which jobs run them. Steps of a single
// method follow, and the total is last.
func timingNames(t map[string]float64) []string {
	order := []string{"column-order", "scale", "align", "all-gather", "protocol", "labels", "count", "sums", "popularity", "triangle", "rounds", "tune", "learn", "broadcast", "errors", "evaluate"}
	last := []string{"compare", "total"}
	var own []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if name != "cpu_s" && !slices.Contains(order, name) && !slices.Contains(last, name) {
			own = append(own, name)
		}
	}
	return slices.DeleteFunc(slices.Concat(order, own, last), func(name string) bool { _, ok := t[name]; return !ok })
}

// blocks prints the tables and the lines of a method's presentation. It does not wrap the lines.
func (p *printer) blocks(w io.Writer, list []method.Block) {
	p.linef("")
	for _, b := range list {
		if b.Header == nil {
			p.linef("%s", b.Line)
			continue
		}
		t := &tableOf{header: b.Header}
		for _, row := range b.Rows {
			cells := make([]any, len(row))
			for i, cell := range row {
				cells[i] = cell
			}
			t.add(cells...)
		}
		p.join(t.print(w))
	}
}
