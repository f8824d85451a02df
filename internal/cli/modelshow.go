package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/model"
)

// modelResult describes a model by the content of its file.
type modelResult struct {
	Path    string      `json:"path"`
	Learner string      `json:"learner"`
	Outputs string      `json:"outputs"` // kind of output for a row
	Kernel  kernel.Spec `json:"kernel"`
	Classes []string    `json:"classes,omitempty"`
	Width   int         `json:"columns"` // number of columns of a row; 0 if the file does not say
	Columns []string    `json:"column_names,omitempty"`
	Reads   []string    `json:"prepares,omitempty"` // columns of the original table, and how they are prepared
	Scaled  bool        `json:"scales_rows"`        // whether the file holds factors that scale rows
	Rows    int         `json:"rows_it_holds"`      // number of training rows in the file
	Random  int         `json:"random_features"`    // number of random features, for which the file holds a seed and weights in place of rows
	Leakage []string    `json:"leakage"`            // what the file reveals about the training rows
}

func (a *app) modelShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show MODEL",
		Short: "Show a model file: learner, kernel, classes, columns, and what it reveals about its training rows",
		Long: `Show a model file of Mercer or of LIBSVM: its learner and kernel, its classes and
columns, how it prepares and scales rows, whether it holds rows of its training table,
and what it reveals to its readers. The settings of the learner, the date and the
figures are in the result of the job that made the model. A private model is refused.`,
		Example: "  mercer model show model.mercer",
		Args:    args("MODEL"),
		RunE: a.run(func(_ context.Context, args []string) (Result, error) {
			m, err := openPredictor(args[0], 1)
			if err != nil {
				return nil, err
			}
			made, err := preparationIn(args[0])
			if err != nil {
				return nil, err
			}
			r := describeFile(args[0], m)
			if made != nil {
				r.Reads = made.Describe()
			}
			r.Leakage = append(r.Leakage, fittedOnRows(made, r.Scaled)...)
			return r, nil
		}),
	}
}

func describeFile(path string, m model.Predictor) modelResult {
	output := m.Output()
	name, _, _ := strings.Cut(string(output.Kind), ":")
	r := modelResult{Path: path, Learner: name, Outputs: string(output.Kind.OutputShape()), Classes: output.Classes, Width: m.Width(), Columns: m.Columns()}
	switch m := m.(type) {
	case *model.Model:
		r.Kernel, r.Scaled = m.Kernel(), m.Scale() != nil
		r.Rows, _ = m.Vectors().Shape()
		r.Leakage = []string{
			fmt.Sprintf("The file holds %s of the training table in clear, with their influence on the decisions. Protect it like these rows.", humanize.Count(r.Rows, "row")),
			"For a support vector machine, these are the rows near the border and those on its wrong side. Other learners hold all rows.",
		}
	case *model.Random:
		scale, _ := m.Scaling()
		r.Kernel, r.Scaled = m.Kernel(), scale != nil
		if r.Kernel.Name != string(job.Linear) {
			r.Random = m.Features()
		}
		r.Leakage = []string{
			"The file holds no row. It holds " + featuresOf(m) + ".",
			"Its decisions reveal something about the training rows. With few rows for each feature, they reveal who was among them.",
		}
	}
	return r
}

// fittedOnRows returns lines that say whether the numbers of the preparation and of the scaling come from training
// rows.
func fittedOnRows(made *prepare.Preparation, scaled bool) (lines []string) {
	switch {
	case scaled && made != nil && made.ScaledByRange():
		lines = append(lines, "The scale of each column follows from its range in the dictionary or schema, and from no row.")
	case scaled:
		lines = append(lines, "The scale has an offset and a factor for each column: a mean and a deviation, or a least and a greatest value, of the training rows.")
	}
	switch {
	case made == nil:
	case made.Schema().DecidedByRows():
		lines = append(lines, "The fills and agreed categories of the preparation are fitted on the training rows.")
	default:
		lines = append(lines, "The fills and categories of the preparation are constants of the dictionary or schema, and follow from no row.")
	}
	return lines
}

// featuresOf lists the contents of a model without rows.
func featuresOf(m *model.Random) string {
	if m.Kernel().Name == string(job.Linear) {
		return "a weight for each column, and the greatest length of a row"
	}
	return "a public seed of random features, and a weight for each feature"
}

// Print writes one fact on each line.
func (r modelResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s", r.Path)
	fact := func(name, text string) { p.linef("%s", listItem(name, 0, text)) }
	fact("learner", r.Learner)
	fact("kernel", cellKernel(r.Kernel))
	if r.Classes != nil {
		fact("classes", strings.Join(r.Classes, ", "))
	}
	switch {
	case r.Width == 0:
		fact("columns", "unknown")
	case r.Columns == nil:
		fact("columns", fmt.Sprintf("%d, without names", r.Width))
	default:
		fact("columns", fmt.Sprintf("%d: %s", r.Width, strings.Join(r.Columns, ", ")))
	}
	for i, line := range r.Reads {
		p.linef("%s", listItem("prepares", i, line))
	}
	fact("scale", map[bool]string{true: "rows are scaled by numbers in the file", false: "none in the file"}[r.Scaled])
	switch {
	case r.Random > 0:
		fact("rows", fmt.Sprintf("none; %d random features", r.Random))
	case r.Rows == 0:
		fact("rows", "none; weights of the columns")
	default:
		fact("rows", humanize.Count(r.Rows, "row")+" of the training table")
	}
	for i, line := range r.Leakage {
		p.linef("%s", listItem("reveals", i, line))
	}
	return p.err
}
