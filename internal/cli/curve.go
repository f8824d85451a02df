package cli

import (
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// curveTable has a row for each number of random features.
func curveTable(curve []learner.Point) *tableOf {
	t := &tableOf{header: []string{"rows per feature", "features", "draws", "accuracy", "+-", "membership auc"}}
	for _, p := range curve {
		t.add(p.RowsPerFeature, p.Features, p.Draws, fmt.Sprintf("%.4f", p.Accuracy), fmt.Sprintf("%.4f", p.Deviation), fmt.Sprintf("%.4f", p.Membership))
	}
	return t
}

// reportCurves are a result's curves as lines on the page of the report.
func reportCurves(r *method.Result) []report.Curve {
	var list []report.Curve
	if len(r.Curve) > 0 {
		list = append(list, featureCurve(r.Curve))
	}
	if r.SecVM != nil {
		list = append(list, deviceCurves(r.SecVM)...)
	}
	return list
}

func featureCurve(curve []learner.Point) report.Curve {
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
