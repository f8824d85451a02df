package noised

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/report"
)

// Show adds a description of the noise and its effects to the presentation of a job's result. j is nil if the job is
// unknown.
func (f *Figures) Show(p *method.Presentation, j *job.Job, r *method.Result) {
	text := f.Text()
	p.More, p.Later = append(p.More, report.Row{Label: "Privacy", Value: text}), append(p.Later, method.Block{Line: "Privacy: " + text})
	p.Notes = append(p.Notes, f.Notes()...)
	if r.Repeats != nil {
		add(p, "Privacy of all runs", f.Repeated(len(r.Repeats.Seeds)))
	}
	if j != nil && (r.Pooled != nil || len(r.Alone) > 0) {
		add(p, "Alone and pooled", comparison(j))
	}
}

// add adds a text to the report page, in a row with the given label, and to the notes under the scores.
func add(p *method.Presentation, label, text string) {
	p.More, p.Notes = append(p.More, report.Row{Label: label, Value: text}), append(p.Notes, text)
}

// comparison states with which features and which alpha the comparisons alone and pooled learn, for a job with privacy.
// In place of random features they use the exact kernel for up to 8,192 rows, so that the difference from the job is
// the price of random features and noise together.
func comparison(j *job.Job) string {
	if j.Kernel.Name == job.Linear {
		return "Alone and pooled learn from the same features, the columns and a constant, without noise and with the alpha of a job without privacy."
	}
	return "Alone and pooled learn with the exact kernel (above 8,192 rows with random features), without noise and with the alpha of a job without privacy."
}
