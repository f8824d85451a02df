package secvm

import (
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/secvm"
	"github.com/mercer-fl/mercer/report"
)

// Details holds the part of a result that only jobs of SecVM have.
type Details struct {
	SecVM *Figures `json:"secvm"`
}

// Figures describes the devices, windows and outcomes of a job.
type Figures struct {
	Source       string         `json:"source"`
	Devices      int            `json:"devices"`
	Trainers     int            `json:"training_devices"`
	Testers      int            `json:"testing_devices"`
	Windows      int            `json:"windows"`
	Bins         int            `json:"bins"`               // the number of bins or, without hashing, of columns
	Features     FeatureSpace   `json:"features,omitempty"` // absent for hashed features
	Packages     int            `json:"packages"`           // the largest number of packages that a device can send in each window
	PackageBytes int            `json:"package_bytes"`
	Sums         []sums.Figures `json:"sums,omitempty"` // the figures of each window's sum, if windows are secure sums
	Sampled      int            `json:"sampled"`        // the number of devices that send only a sample of their records; 0 if only devices know it
	Classes      []ClassTest    `json:"classes"`
	Majority     float64        `json:"majority_accuracy"`  // the accuracy of a model that always predicts the testing devices' larger class
	PooledC      float64        `json:"pooled_c,omitempty"` // the parameter C of the best support vector machine on pooled records
	Averages     []AveragePoint `json:"averages"`
	BinCurve     []BinPoint     `json:"bin_curve,omitempty"`
}

// BinPoint holds the accuracy for one number of bins, as in figure 3 of the paper.
type BinPoint struct {
	Bins     int     `json:"bins"`
	Accuracy float64 `json:"accuracy"`
}

// ClassTest counts the testing devices of one class, and those that were predicted correctly.
type ClassTest struct {
	Class   string `json:"class"`
	Tested  uint64 `json:"tested"`
	Correct uint64 `json:"correct"`
}

// MajorityOf returns the accuracy of a model that always predicts the class of most testing
// devices. This is the share of that class. It is 0 without any test.
func MajorityOf(tests []ClassTest) float64 {
	var most, all uint64
	for _, t := range tests {
		most, all = max(most, t.Tested), all+t.Tested
	}
	return float64(most) / float64(max(1, all))
}

// TestsOf combines the names of the two classes with their test outcomes. The first class has label
// -1, and the second +1.
func TestsOf(classes [2]string, tests [2]secvm.Outcome) (list []ClassTest) {
	for i, t := range tests {
		list = append(list, ClassTest{Class: classes[i], Tested: t.Total, Correct: t.Correct})
	}
	return list
}

// AccuracyOf returns the share of correct tests, over both classes.
func AccuracyOf(tests [2]secvm.Outcome) float64 {
	return float64(tests[0].Correct+tests[1].Correct) / float64(tests[0].Total+tests[1].Total)
}

// String states in words how many devices of the class were predicted correctly.
func (c ClassTest) String() string {
	return fmt.Sprintf("class %s: %d of %d testing devices predicted right", c.Class, c.Correct, c.Tested)
}

// AveragePoint holds the accuracy of averaged weights after an iteration. The average is over the
// last weight vectors. Figure 2 of the paper shows it.
type AveragePoint struct {
	Iteration int     `json:"iteration"`
	Averaged  int     `json:"averaged"`
	Accuracy  float64 `json:"accuracy"`
}

// present returns the text, curves and summary that describe a result.
func present(j *job.Job, r *method.Result) (*method.Presentation, error) {
	d, err := method.DetailsOf[Details](r)
	if err != nil || d == nil || d.SecVM == nil {
		return nil, err
	}
	p := &method.Presentation{Majority: d.SecVM.Majority, Text: d.SecVM.text(r.Exact), Curves: d.SecVM.curves()}
	if j != nil {
		p.Summary = d.SecVM.summary(j)
	}
	return p, nil
}

// text describes a job in lines and tables, without the scores. exact reports whether all sums
// equal the sums of the plain packages; it is nil if the job has made no such comparison.
func (f *Figures) text(exact *bool) []method.Block {
	var list []method.Block
	linef := func(format string, args ...any) {
		list = append(list, method.Block{Line: fmt.Sprintf(format, args...)})
	}
	linef("Data: %s", f.Source)
	windows := fmt.Sprintf(" of %d packages of %d bytes from each", f.Packages, f.PackageBytes)
	if len(f.Sums) > 0 {
		windows = fmt.Sprintf(", each a secure sum of up to %d packages of each", f.Packages)
	}
	linef("%d devices train and %d test; %d windows%s; %s", f.Trainers, f.Testers, f.Windows, windows, f.width())
	if exact != nil {
		linef("all sums equal those of the plain packages, entry for entry: %s\n", humanize.YesNo(*exact))
	}
	if len(f.Sums) > 0 {
		list = append(list, sums.Table(f.Sums))
	}
	if f.Sampled > 0 {
		linef("%s had more to say than packages, and sampled it", humanize.Count(f.Sampled, "device"))
	}
	for _, c := range f.Classes {
		linef("%s", c)
	}
	if f.Majority > 0 {
		linef("always saying the larger class: accuracy %.4f", f.Majority)
	}
	for _, b := range f.BinCurve {
		linef("with %6d bins: accuracy %.4f", b.Bins, b.Accuracy)
	}
	if f.PooledC > 0 {
		linef("pooled: the best of eleven values of C on the held-out records, %g", f.PooledC)
	}
	return list
}

// width describes the number of weights, without the bias, in words.
func (f *Figures) width() string {
	if f.Features == ColumnFeatures {
		return fmt.Sprintf("%d columns, which are not hashed", f.Bins)
	}
	return fmt.Sprintf("%d bins", f.Bins)
}

// curves returns the curves of figures 2 and 3 of the paper. Figure 2 shows the accuracy of means
// of the last weight vectors by iteration, and figure 3 the accuracy with other numbers of bins.
func (f *Figures) curves() []report.Curve {
	var list []report.Curve
	if len(f.Averages) > 0 {
		list = append(list, averagesCurve(f.Averages))
	}
	if len(f.BinCurve) > 0 {
		bins := report.Curve{Title: "Accuracy with other numbers of bins", X: "bins", Lines: []report.Line{{Name: "accuracy"}}}
		for _, p := range f.BinCurve {
			bins.Steps = append(bins.Steps, strconv.Itoa(p.Bins))
			bins.Lines[0].Values = append(bins.Lines[0].Values, p.Accuracy)
		}
		list = append(list, bins)
	}
	return list
}

// averagesCurve returns the curve of figure 2. It has one line for each number of averaged vectors.
func averagesCurve(points []AveragePoint) report.Curve {
	c := report.Curve{Title: "Accuracy of the mean of the last weight vectors", X: "iteration"}
	at := make(map[int]int) // maps a number of averaged vectors to the index of its line
	for _, p := range points {
		if _, ok := at[p.Averaged]; !ok {
			at[p.Averaged] = len(c.Lines)
			c.Lines = append(c.Lines, report.Line{Name: fmt.Sprintf("%d averaged", p.Averaged)})
		}
		if at[p.Averaged] == 0 {
			c.Steps = append(c.Steps, strconv.Itoa(p.Iteration))
		}
		line := &c.Lines[at[p.Averaged]]
		line.Values = append(line.Values, p.Accuracy)
	}
	return c
}

// summary returns the rows that head the page of a result.
func (f *Figures) summary(j *job.Job) []report.Row {
	sent := report.Row{Label: "Packages", Value: fmt.Sprintf("%d of %d bytes from each device in each of %d windows", f.Packages, f.PackageBytes, f.Windows)}
	if len(f.Sums) > 0 {
		first := f.Sums[0]
		sent = report.Row{Label: "Sums", Value: fmt.Sprintf("%d, the first of %d of %d devices; %d holders, threshold %d", len(f.Sums), first.Added, first.Clients, first.Holders, first.Threshold)}
	}
	return []report.Row{
		{Label: "Data", Value: f.Source},
		{Label: "Devices", Value: fmt.Sprintf("%d train, %d test", f.Trainers, f.Testers)},
		{Label: "Protocol", Value: j.Protocol.Text()},
		sent,
		{Label: "Learner", Value: j.Learner.Text()},
	}
}
