package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// predictResult holds a model's predictions for rows.
type predictResult struct {
	admin.Prediction
	IDs    []string `json:"ids,omitempty"`
	lines  []int    // lines of the rows in DATA; nil if DATA has none
	Labels []string `json:"labels,omitempty"` // true labels of the rows, for comparison
	// Unknown lists the ids of rows that a holder of columns does not have.
	Unknown []string `json:"unknown,omitempty"`
	// These metrics are nil if the rows have no labels of the right kind.
	Accuracy *float64 `json:"accuracy"`
	RMSE     *float64 `json:"rmse,omitempty"`
	R2       *float64 `json:"r2,omitempty"`
}

// Print writes one line with the prediction for each row. The line begins with the id if there is
// one. The class, the number with its deviation, or the scores follow.
func (r predictResult) Print(w io.Writer) error {
	p := &printer{w: w}
	for i := range r.Decisions {
		var cells []string
		if r.IDs != nil {
			cells = append(cells, r.IDs[i])
		}
		p.linef("%s", strings.Join(append(cells, r.cells(i)...), "\t"))
	}
	for _, id := range r.Unknown {
		p.linef("%s\tunknown to some party", id)
	}
	return p.err
}

func (r predictResult) cells(i int) []string {
	switch {
	case r.Predicted == nil:
		return numbers(r.Decisions[i])
	case r.Deviations != nil:
		return numbers(append(slices.Clone(r.Decisions[i]), r.Deviations[i]))
	}
	return r.Predicted[i : i+1]
}

func numbers(values []float64) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = numeral(v)
	}
	return cells
}

func newPrediction(p admin.Prediction, set *dataset.Set) predictResult {
	var r predictResult
	if p.Rows != nil {
		for _, i := range dataset.Complement(set.X.Rows(), p.Rows) {
			r.Unknown = append(r.Unknown, set.IDs[i])
		}
		set = set.Subset(p.Rows)
	}
	r.Prediction, r.IDs, r.lines, r.Labels = p, set.IDs, set.Lines, set.Labels
	switch {
	case r.Labels == nil:
	case p.Learner.Regresses():
		r.compareNumbers()
	case p.Learner.Classifies() || p.Learner.OutputShape() == model.Side && !slices.ContainsFunc(r.Labels, notASide):
		r.Accuracy = orNil(metrics.Accuracy(r.Labels, p.Predicted))
	}
	return r
}

// notASide reports whether a label differs from both answers of a one-class support vector machine.
func notASide(label string) bool { return label != model.Inside && label != model.Outside }

// compareNumbers computes the metrics of a regression if the labels are numbers.
func (r *predictResult) compareNumbers() {
	truth, err := dataset.Targets(r.Labels)
	if err != nil {
		return
	}
	predicted := make([]float64, len(r.Decisions))
	for i, d := range r.Decisions {
		predicted[i] = d[0]
	}
	r.RMSE, r.R2 = orNil(metrics.RMSE(truth, predicted)), orNil(metrics.R2(truth, predicted))
}

// orNil returns a pointer to the value of a metric, or nil if err is not nil.
func orNil(v float64, err error) *float64 {
	if err != nil {
		return nil
	}
	return &v
}

func (a *app) predict() *cobra.Command {
	var q predictionRequest
	var out string
	var asCSV bool
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA | predict --job ID DATA",
		Short: "Predict new rows",
		Long: `Predict the classes, numbers, scores or clusters of new rows. With a model file (of
Mercer, or of LIBSVM's svm-train), the command predicts by itself. With --job, it
queries the model of a job through the party of this home. The job must have been
submitted with prediction: open.

With --job, the rows stay at the party. With protocols moments and sealed, the party
has the model itself. With okra, the party queries the coordinator in a session, and
only encoded rows leave. Where other parties hold columns of the rows (fdskl, gram), the
parties first match the rows by their ids, in the job's table of each party or in the
table that they call --source. A row that one party lacks has no answer.

DATA can be any source that a job can name: a file, a folder of images, a name in the
data folder, or a part of these. mercer data info explains the parts. A dash (-) reads
CSV from standard input. --csv prints a table with a header: id or line, class or number,
scores, and the probabilities of a calibrated model. --out writes that table into a
file.

If the job had a schema, the command reads and prepares the new table by it, with the
fills and categories of the training. --as names the table of this home's catalogue,
or with --job-file the party of a simulated job, whose columns, words and units DATA
has. DATA needs no column of labels. Without a description, --csv-delimiter,
--decimal, --thousands, --missing, --comment, --names, --headers, --quote and
--encoding describe the text. A table that lacks a column of the training is refused,
unless the schema fills gaps of that column and you give --allow-missing-columns: then
every row has the fill.`,
		Example: "  mercer predict model.mercer new.csv\n  mercer predict out/model-north new.csv --job-file job.yaml --as north\n  mercer predict --home ./north --job 0123456789abcdef0123456789abcdef slices#88x104 --json\n  mercer predict --home ./bank --job 0123456789abcdef0123456789abcdef new.csv --id customer --source newcomers",
		Args: func(_ *cobra.Command, given []string) error {
			if want := map[bool]int{true: 1, false: 2}[q.job != ""]; len(given) != want {
				return usage("predict has too few or too many arguments; give MODEL and one DATA, or --job ID and one DATA")
			}
			return nil
		},
		RunE: a.run(func(ctx context.Context, args []string) (Result, error) {
			q.data = args[len(args)-1]
			r, err := a.predictBy(ctx, q, args[0])
			switch {
			case err != nil:
				return nil, err
			case out != "":
				return r.save(out)
			case asCSV:
				return answerTable{r}, nil
			}
			a.adviseTable(r)
			return r, nil
		}),
	}
	a.predictionFlags(cmd, &q)
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print a CSV table")
	cmd.Flags().StringVar(&out, "out", "", "CSV file to write; default none")
	return cmd
}

// predictionFlags adds the flags that name a job and describe the new rows.
func (a *app) predictionFlags(cmd *cobra.Command, q *predictionRequest) {
	a.homeFlag(cmd, &q.home)
	cmd.Flags().StringVar(&q.job, "job", "", "id of the job whose model to query")
	cmd.Flags().StringVar(&q.source, "source", "", "name of the other parties' table with these rows")
	cmd.Flags().StringVar(&q.as, "as", "", "table of this home's catalogue, or party of --job-file, that describes DATA: names, words, units")
	cmd.Flags().StringVar(&q.jobFile, "job-file", "", "job file of mercer simulate whose sources describe DATA, in place of a catalogue")
	cmd.Flags().BoolVar(&q.absent, "allow-missing-columns", false, "fill the columns that DATA lacks, if the job's schema fills their gaps")
	columnFlags(cmd, &q.columns)
	csvFlags(cmd, &q.csv)
}

// predictBy predicts with a job or with a model file.
func (a *app) predictBy(ctx context.Context, q predictionRequest, path string) (r predictResult, err error) {
	if err := q.check(); err != nil {
		return r, err
	}
	data, done, err := a.dataOrInput(q.data)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, done()) }()
	q.shown = q.data
	if q.data = data; q.job != "" {
		r, err = a.predictByJob(ctx, q)
	} else {
		r, err = a.predictByFile(q, path)
	}
	if err != nil && q.shown == fromStdin {
		err = jobFileWords{strings.NewReplacer(filepath.ToSlash(data), "standard input")}.inError(err)
	}
	switch {
	case err == nil:
		a.noteContradictions(r)
	case q.jobFile != "":
		err = wordsOf(q.jobFile, false).inError(err)
	}
	return r, err
}

// adviseTable adds the advice on the table of the predictions, if there is any.
func (a *app) adviseTable(r predictResult) {
	if advice := r.tableAdvice(); advice != "" && !a.json {
		a.notices.add(advice)
	}
}

// tableAdvice returns a notice of the flags that give more than the printed predictions. It returns "" if the CSV
// table would have nothing more.
func (r predictResult) tableAdvice() string {
	const ids = "; --id COLUMN names rows by their ids"
	byLine := r.IDs == nil && r.lines != nil
	switch scored := !r.Learner.Regresses(); {
	case byLine && scored:
		return "notice: --csv prints a table with the line of each row and its scores" + ids
	case byLine:
		return "notice: --csv prints a table with the line of each row" + ids
	case scored:
		return "notice: --csv prints a table with the scores of each row"
	}
	return ""
}

// noteContradictions warns of rows whose predicted class is not the most probable one.
func (a *app) noteContradictions(r predictResult) {
	if r.Probabilities == nil {
		return
	}
	n := metrics.Contradictions(r.Classes, r.Predicted, func(i int) []float64 { return r.Probabilities[i] })
	if n > 0 {
		a.notices.add(fmt.Sprintf("warning: for %d of %d rows the predicted class is not the most probable one; use the classes", n, len(r.Predicted)))
	}
}

// predictionRequest holds new rows to predict, and the job to query.
type predictionRequest struct {
	newRows
	job, source string
}

// check refuses flags that need another flag.
func (q predictionRequest) check() error {
	switch {
	case q.source != "" && q.job == "":
		return usage("--source is given without --job; give --job ID, or remove --source")
	case q.jobFile != "" && q.as == "":
		return usage("--job-file requires --as, the party of the job whose table DATA is like; add it")
	}
	return nil
}

// predictByJob queries a job through the party of this home.
func (a *app) predictByJob(ctx context.Context, q predictionRequest) (r predictResult, err error) {
	if _, err := job.ParseID(q.job); err != nil {
		return r, usage("%w", err)
	}
	err = callDaemon(q.home, func(c *admin.Client) error {
		made, err := preparationOfJob(ctx, c, q.job)
		if err != nil {
			return err
		}
		set, err := a.load(q.newRows, made)
		if err != nil {
			return err
		}
		var p admin.Prediction
		err = a.during("predict", func() (err error) { p, err = c.Predict(ctx, q.job, set, q.source); return err })
		r = newPrediction(p, set)
		return err
	})
	return r, err
}

// predictByFile predicts with a model file. It opens the file before the data, so that a wrong or
// private file is not reported as an error in the data.
func (a *app) predictByFile(q predictionRequest, path string) (r predictResult, err error) {
	made, err := preparationIn(path)
	if err != nil {
		return r, err
	}
	m, err := openOwn(path)
	if err != nil {
		return r, err
	}
	set, err := a.load(q.newRows, made)
	if err != nil {
		return r, err
	}
	if m == nil { // a file of LIBSVM does not say how many columns the rows have
		if m, err = openPredictor(path, set.X.Cols()); err != nil {
			return r, err
		}
	}
	if width := m.Width(); width > 0 {
		arranged, err := arrangeLike(m, q.shown, set)
		if err != nil {
			e := usage("%w", err)
			if set.Labels != nil && q.columns.Label == "" && set.X.Cols()+1 == width { // probably one column of features was read as labels
				e.Hint = "one column was read as labels; use --label none if there are none"
			}
			return r, e
		}
		set = arranged
	}
	if (m.Columns() == nil) != (set.Columns == nil) {
		a.notices.add(positionWarning(path, q.shown, m))
	}
	var decisions linalg.Matrix[float64]
	err = a.during("predict", func() (err error) { decisions, err = m.Decisions(dataset.DenseOf(set.X).Matrix()); return err })
	if errors.Is(err, model.ErrUnscaled) {
		return r, usage("%s: %w", path, err)
	}
	if err != nil {
		return r, err
	}
	return newPrediction(admin.NewPrediction(m.Output(), decisions), set), nil
}

// arrangeLike returns the rows with their columns in the order of the model's columns. It matches
// columns by name, or by position if the rows or the model have no names.
func arrangeLike(m model.Predictor, data string, set *dataset.Set) (*dataset.Set, error) {
	if (m.Columns() == nil || set.Columns == nil) && set.X.Cols() != m.Width() {
		return nil, fmt.Errorf("%s has %s, but the model was trained on %d columns", data, humanize.Count(set.X.Cols(), "column"), m.Width())
	}
	return set.Arrange("the training table", m.Width(), m.Columns())
}

// positionWarning returns a warning that columns were matched by position instead of by name.
func positionWarning(path, data string, m model.Predictor) string {
	if m.Columns() == nil {
		return fmt.Sprintf("warning: %s has no column names, so the columns of %s were matched by position", path, data)
	}
	return fmt.Sprintf("warning: the columns of %s have no names, so they were matched by position", data)
}

// preparationIn returns the preparation in a model file, or nil if there is none.
func preparationIn(path string) (*prepare.Preparation, error) {
	return openWhole(path, func(b *bufio.Reader) (*prepare.Preparation, error) {
		content, err := model.CutPrepared(b)
		return decodePreparation(content, err)
	})
}

// preparationOfJob returns the preparation of a job at this home's party, or nil if there is none.
func preparationOfJob(ctx context.Context, c *admin.Client, id string) (*prepare.Preparation, error) {
	content, err := c.Preparation(ctx, id)
	return decodePreparation(content, err)
}

// sheet returns the predictions as a table whose rows are named by id, by line or by position.
func (r predictResult) sheet() *sheet {
	s := &sheet{rows: make([][]string, len(r.Decisions))}
	switch {
	case r.IDs != nil:
		s.add("id", r.IDs)
	case r.lines != nil:
		s.add("line", integers(r.lines))
	default:
		s.addPositions()
	}
	if r.Labels != nil {
		s.add("label", r.Labels)
	}
	s.addPrediction(r.Prediction)
	return s
}

// save writes the table into a file and returns a result that names the file.
func (r predictResult) save(path string) (Result, error) {
	text, err := r.sheet().encode()
	if err != nil {
		return nil, err
	}
	if err := create(path, text); err != nil {
		return nil, err
	}
	return savedTable{path, len(r.Decisions), len(r.Unknown)}, nil
}

// savedTable describes a table of predictions that was written to a file.
type savedTable struct {
	Path    string `json:"path"`
	Rows    int    `json:"rows"`
	Unknown int    `json:"unknown"` // number of rows without an answer
}

// Print names the file.
func (r savedTable) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s, %s", r.Path, humanize.Count(r.Rows, "row"))
	if r.Unknown > 0 {
		p.linef("%s unknown to some party", humanize.Count(r.Unknown, "row"))
	}
	return p.err
}

// answerTable is a result that prints predictions as CSV.
type answerTable struct{ predictResult }

// Print writes only the table.
func (r answerTable) Print(w io.Writer) error {
	text, err := r.sheet().encode()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// fromStdin is the name of standard input as a data source.
const fromStdin = "-"

// dataOrInput returns the name of the data source, which can be standard input. For a dash it
// copies the CSV from standard input to a temporary file. The function cleanup removes this file.
func (a *app) dataOrInput(name string) (data string, cleanup func() error, err error) {
	if name != fromStdin {
		return name, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "mercer-input-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() error { return os.RemoveAll(dir) }
	data = filepath.Join(dir, "input.csv")
	err = disk.ReplaceBy(data, func(w io.Writer) error {
		_, err := io.Copy(w, a.stdin)
		return err
	})
	if err != nil {
		return "", nil, errors.Join(err, cleanup())
	}
	return data, cleanup, nil
}
