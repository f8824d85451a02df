package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/report"
)

// Limits for tables on a terminal and on a page.
const (
	matrixShown = 12 // largest number of classes in a confusion matrix
	classesOf   = 20 // largest number of rows in the table of classes
)

// figureTables returns tables that evaluate the predictions on held-out rows.
func figureTables(m learner.Metrics, a *learner.Assessment) []titledTable {
	return formattedTables(m, a, decimals)
}

// formattedTables returns the same tables as figureTables, with metrics in the given format.
func formattedTables(m learner.Metrics, a *learner.Assessment, format func(float64) string) []titledTable {
	if a == nil {
		return nil
	}
	var list []titledTable
	if len(a.Intervals) > 0 {
		list = append(list, titledTable{title: "Figures on the held-out rows, with 95 % intervals", table: intervalTable(m, a, format)})
	}
	if a.Confusion != nil && len(a.Confusion.Classes) <= matrixShown {
		list = append(list, titledTable{"Held-out rows by true class and predicted class", confusionTable(a.Confusion), true})
	}
	if a.PerClass != nil {
		list = append(list, titledTable{title: classesTitle, table: classTable(a)})
	}
	if a.Residuals != nil {
		list = append(list, titledTable{title: "Residuals: truth minus prediction", table: residualTable(a.Residuals)})
	}
	return append(list, byPartyTables(m, a, format)...)
}

// pageTables returns the tables of a page. Two classes have the table of a test in place of the table
// of classes.
func pageTables(m learner.Metrics, a *learner.Assessment) []titledTable {
	list := formattedTables(m, a, pageDecimals)
	if a != nil && a.Positive != "" {
		list = slices.DeleteFunc(list, func(t titledTable) bool { return t.title == classesTitle })
	}
	for _, t := range list {
		t.table.nameMetrics()
	}
	return list
}

// nameMetrics replaces metric keys in a table, such as f1_macro, by readable titles.
func (t *tableOf) nameMetrics() {
	for i, h := range t.header {
		t.header[i] = report.MetricTitle(h)
	}
	if t.header[0] == "figure" {
		for _, row := range t.rows {
			row[0] = report.MetricTitle(fmt.Sprint(row[0]))
		}
	}
}

// classesTitle is the title of a table that some pages leave out.
const classesTitle = "Each class against the rest"

// pageDecimals formats a metric with few digits, for a page that also shows the metric's interval.
func pageDecimals(v float64) string {
	if v >= 10 || v <= -10 {
		return humanize.ThreeDigits(v)
	}
	return fmt.Sprintf("%.2f", v)
}

// titledTable is a table with a title.
type titledTable struct {
	title  string
	table  *tableOf
	matrix bool // whether a report page draws the table as a matrix
}

// figures prints tables with their titles.
func (p *printer) figures(w io.Writer, list []titledTable) {
	for _, t := range list {
		p.linef("\n%s", t.title)
		p.join(t.table.print(w))
	}
}

func intervalTable(m learner.Metrics, a *learner.Assessment, format func(float64) string) *tableOf {
	t := &tableOf{header: []string{"figure", "value", "from", "to"}}
	for _, name := range metricNames(m) {
		if in := a.Intervals[name]; in != nil && name != "f1_micro" { // leave out f1_micro, which equals the accuracy
			t.add(name, format(m[name]), format(in.Low), format(in.High))
		}
	}
	return t
}

// decimals formats a metric with four decimals, or with five digits if it is large.
func decimals(v float64) string {
	if v >= 100 || v <= -100 {
		return fmt.Sprintf("%.5g", v)
	}
	return fmt.Sprintf("%.4f", v)
}

func confusionTable(c *learner.Confusion) *tableOf {
	t := &tableOf{header: []string{"true class"}}
	for _, class := range c.Classes {
		t.header = append(t.header, "as "+class)
	}
	for i, class := range c.Classes {
		cells := []any{class}
		for _, n := range c.Matrix[i] {
			cells = append(cells, n)
		}
		t.add(cells...)
	}
	return t
}

// classTable has a row for each of the first classesOf classes. Sensitivity is another name for recall.
func classTable(a *learner.Assessment) *tableOf {
	t := &tableOf{header: []string{"class", "training", "held out", "sensitivity", "specificity", "PPV", "NPV", "f1"}}
	for i, c := range a.PerClass {
		if i == classesOf {
			break
		}
		var in learner.ClassIntervals
		if i < len(a.ClassIntervals) {
			in = a.ClassIntervals[i]
		}
		t.add(c.Class, trainingOf(a.Classes, c.Class), strconv.Itoa(c.Rows), inRange(c.Recall, in.Recall), inRange(c.Specificity, in.Specificity), inRange(c.Precision, in.Precision), inRange(c.NPV, in.NPV), inRange(c.F1, nil))
	}
	return t
}

func trainingOf(classes []learner.ClassCount, class string) string {
	i := slices.IndexFunc(classes, func(c learner.ClassCount) bool { return c.Class == class })
	if i < 0 {
		return ""
	}
	return strconv.Itoa(classes[i].Training)
}

// inRange formats a metric with its interval. It returns "" if the metric has no value.
func inRange(v *float64, in *metrics.Interval) string {
	switch {
	case v == nil:
		return ""
	case in == nil:
		return fmt.Sprintf("%.3f", *v)
	}
	return fmt.Sprintf("%.3f (%.2f-%.2f)", *v, in.Low, in.High)
}

func residualTable(r *metrics.Residuals) *tableOf {
	t := &tableOf{header: []string{"figure", "value"}}
	t.add("mean", decimals(r.Mean))
	t.add("deviation", decimals(r.Deviation))
	t.add("least", decimals(r.Least))
	t.add("lower quartile", decimals(r.Quartile1))
	t.add("median", decimals(r.Median))
	t.add("upper quartile", decimals(r.Quartile3))
	t.add("greatest", decimals(r.Greatest))
	return t
}
