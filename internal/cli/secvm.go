package cli

import (
	"fmt"
	"io"
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/say"
	"github.com/mercer-fl/mercer/report"
)

// devicesText is what a job among anonymous devices tells beside its figures.
func (o outcome) devicesText(w io.Writer, p *printer) {
	s := o.SecVM
	p.linef("\nData: %s", s.Source)
	if len(s.Sums) == 0 {
		p.linef("%d devices train and %d test; %d windows of %d packages of %d bytes from each; %d bins",
			s.Trainers, s.Testers, s.Windows, s.Packages, s.PackageBytes, s.Bins)
	} else {
		p.linef("%d devices train and %d test; %d windows, each a secure sum of up to %d packages of each; %d bins",
			s.Trainers, s.Testers, s.Windows, s.Packages, s.Bins)
		p.linef("all sums are those of the plain packages, entry for entry: %s\n", say.YesNo(*o.Exact))
		p.join(sumsTable(s.Sums).print(w))
	}
	if s.Sampled > 0 {
		p.linef("%s had more to say than packages, and sampled it", say.Count(s.Sampled, "device"))
	}
	for _, c := range s.Classes {
		p.linef("class %s: %d of %d testing devices predicted right", c.Class, c.Correct, c.Tested)
	}
	for _, b := range s.BinCurve {
		p.linef("with %6d bins: accuracy %.4f", b.Bins, b.Accuracy)
	}
	if s.PooledC > 0 {
		p.linef("pooled: the best of eleven values of C on the held-out records, %g", s.PooledC)
	}
}

// deviceCurves are figures 2 and 3 of the paper: means of the last weight
// vectors along the way, and other numbers of bins.
func deviceCurves(s *method.SecVMResult) []report.Curve {
	var list []report.Curve
	if len(s.Averages) > 0 {
		list = append(list, averagesCurve(s.Averages))
	}
	if len(s.BinCurve) > 0 {
		bins := report.Curve{Title: "Accuracy with other numbers of bins", X: "bins", Lines: []report.Line{{Name: "accuracy"}}}
		for _, p := range s.BinCurve {
			bins.Steps = append(bins.Steps, strconv.Itoa(p.Bins))
			bins.Lines[0].Values = append(bins.Lines[0].Values, p.Accuracy)
		}
		list = append(list, bins)
	}
	return list
}

// averagesCurve has a line for each number of vectors.
func averagesCurve(points []method.AveragePoint) report.Curve {
	c := report.Curve{Title: "Accuracy of the mean of the last weight vectors", X: "iteration"}
	at := make(map[int]int) // line of a number of vectors
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

// devicesSummary is the head of the report.
func devicesSummary(j *job.Job, r *method.Result) []report.Row {
	s := r.SecVM
	sent := report.Row{Label: "Packages", Value: fmt.Sprintf("%d of %d bytes from each device in each of %d windows", s.Packages, s.PackageBytes, s.Windows)}
	if len(s.Sums) > 0 {
		first := s.Sums[0]
		sent = report.Row{Label: "Sums", Value: fmt.Sprintf("%d, the first of %d of %d devices; %d holders, threshold %d", len(s.Sums), first.Added, first.Clients, first.Holders, first.Threshold)}
	}
	return []report.Row{
		{Label: "Data", Value: s.Source},
		{Label: "Devices", Value: fmt.Sprintf("%d train, %d test", s.Trainers, s.Testers)},
		{Label: "Protocol", Value: j.Protocol.Text()},
		sent,
		{Label: "Learner", Value: j.Learner.String()},
	}
}
