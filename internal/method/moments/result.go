package moments

import (
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
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
	if a := r.Figures; a != nil && len(a.Curves) > 0 {
		text := fmt.Sprintf("%d held-out decisions in %d bins: the area under the ROC curve is off by at most %.4f", r.HeldOut, moments.Bins, a.Curves[0].Within)
		p.More, p.Later = append(p.More, report.Row{Label: "Histogram", Value: text}), []method.Block{{Line: text}}
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
