package job

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// FitKind is the value of the key kind in the file of a job that only fits and does not learn.
const FitKind = "Fit"

// Kept names the earlier job of kind Fit whose values prepare a new job's rows. The zero value
// names no job.
type Kept struct {
	Job  ID
	Told []string // the parties that did not take part in the fit and receive it in this job
}

// Named reports whether k names a job of kind Fit.
func (k Kept) Named() bool { return k.Job != ID{} }

// Tells reports whether a party receives the fit.
func (k Kept) Tells(party string) bool { return slices.Contains(k.Told, party) }

// Section declares the keys of the section fit.
func (k *Kept) Section() *section.Section {
	return &section.Section{Name: "fit", Fields: []section.Field{
		{Key: "job", Value: OneID{&k.Job}, Need: "add \"job\" with the id of a job of kind Fit, or remove \"fit\"", Doc: "The job of kind Fit that made the fit."},
		{Key: "told", Value: section.Words{Dst: &k.Told, Most: MaxParties, Example: "[south]"}, Else: "no party",
			Doc: "The parties that did not take part in that job. The first party of this job sends them the fit, and so they learn it."},
	}}
}

// finishFit refuses a fit that the job does not need. It also refuses a receiver that is not a
// party or that must send the fit.
func (d *Data) finishFit(in *section.Place) error {
	parties := d.parties()
	switch {
	case !d.Fit.Named():
		return nil
	case d.Schema == nil || d.Dictionary == nil || d.Dictionary.Name == "" || d.Partition.By != Rows || !d.Fits():
		return in.Refuse("fit", "\"fit\" is only for jobs by rows with a dictionary that requires a fit; remove \"fit\"")
	case len(parties) > 0 && d.Fit.Tells(parties[0]):
		return in.Refuse("fit", "\"fit.told\" names the first party %s, which sends the fit; list a party first that has the fit", section.Quote(parties[0]))
	}
	for _, name := range d.Fit.Told {
		if parties != nil && !slices.Contains(parties, name) {
			return in.Refuse("fit", "\"fit.told\" names %s, which is not a party of the job; remove the name from \"fit.told\"", section.Quote(name))
		}
	}
	return nil
}

// IsFit reports whether the job is of kind Fit, which fits and does not learn.
func (j *Job) IsFit() bool { return j.Traits().Fits }

// NeedsFit reports whether the job must name a fit to prepare its rows but does not. A separate job
// makes the fit of a data dictionary once. If the dictionary describes no columns, each job scales
// them itself.
func (j *Job) NeedsFit() bool {
	d := &j.Data
	return d.Schema != nil && d.Dictionary != nil && d.Dictionary.Name != "" && d.Partition.By == Rows && d.Fits() &&
		!d.Fit.Named() && !j.IsFit() && !j.Protocol.Demands().Continues
}

// WithFit returns a copy of the job that names the fit of another job.
func (j *Job) WithFit(of ID) *Job {
	fitted := *j
	fitted.Data.Fit = Kept{Job: of}
	return &fitted
}

// FitSpec returns the declaration of a job of kind Fit, which the documentation shows.
func FitSpec() *section.Section { return new(Job).fitSpec(nil) }

// FitOf returns a new job of kind Fit that makes the fit for the given job.
func (r *Reader) FitOf(j *Job) *Job {
	fit := &Job{Name: j.Data.Dictionary.fitName(), Protocol: Named{r.Fit, r.Fit.New()}, Timeout: j.Timeout, Study: j.Study}
	fit.Data.Source, fit.Data.Scale, fit.Data.Dictionary = j.Data.Source, j.Data.Scale, j.Data.Dictionary
	fit.Data.Partition.Parties = j.Parties()
	fit.fillFitFields()
	return fit
}

// fitName returns the name of the job that makes the dictionary's fit.
func (d *Dictionary) fitName() string {
	const most = 63 - len("fit-") // 63 is the greatest length of a DNS label
	return "fit-" + strings.TrimRight(d.Name[:min(len(d.Name), most)], "-")
}

// SameFit reports whether two jobs can use the same fit, because they have the same dictionary,
// scaling and table.
func (d *Data) SameFit(o *Data) bool {
	return d.Dictionary != nil && o.Dictionary != nil && d.Dictionary.Hash() == o.Dictionary.Hash() && d.Scale == o.Scale && d.Source == o.Source
}

// fitSpec declares the spec of a job of kind Fit. With a nil Reader, the declaration can only write
// a job.
func (j *Job) fitSpec(r *Reader) *section.Section {
	d := &j.Data
	return &section.Section{Name: "spec", Fields: []section.Field{
		{Key: "source", Value: section.Text{Dst: &d.Source}, Need: "add \"source\" with the table's name in each party's catalogue",
			Doc: "The table, by its name in each party's catalogue."},
		{Key: "dictionary", Value: dictionaryOf{d, r}, Need: "add \"dictionary\" with its name", Doc: "The name of the data dictionary that every party's operator has approved. The job fits all its columns."},
		{Key: "parties", Value: partyList{&d.Partition.Parties}, Need: "add parties: [north, south]", Doc: "The parties whose training rows make the fit. The first party learns the sums over all parties."},
		{Key: "scale", Value: section.Choice[Scaling]{Noun: "scaling", Dst: &d.Scale, Known: []Scaling{MinMax, Standard, Range, None}},
			Default: "minmax", Doc: "How the parties scale features together."},
		{Key: "timeout", Value: j.Timeout.Section(), Default: "{}", Doc: "The longest waits of the job."},
		j.studyField(r),
	}, Finish: j.finishFit}
}

// fillFitFields sets the fields of a job of kind Fit that follow from its dictionary.
func (j *Job) fillFitFields() {
	d := &j.Data
	d.Partition.By, d.Label, d.Test.Fraction = Rows, NoLabel, d.Dictionary.Fraction
	d.Read, d.Schema = d.Dictionary.Columns, d.Dictionary.Columns
	j.Compare, j.Prediction = []Comparison{}, Closed
}

func (j *Job) finishFit(in *section.Place) error {
	d := &j.Data
	if d.Dictionary.Name == "" {
		return in.Refuse("dictionary", "\"dictionary\" is a map in the file, but operators must have approved the dictionary; write \"dictionary: NAME\"")
	}
	if leader := d.Dictionary.Leader; leader != "" && d.Partition.Parties[0] != leader {
		return in.Refuse("parties", "the dictionary's leader is %s, which must be the first party; list %s first", section.Quote(leader), leader)
	}
	j.fillFitFields()
	if err := cmp.Or(d.finishSchema(in), d.planSums(in)); err != nil {
		return err
	}
	if d.Schema == nil {
		return in.Refuse("dictionary", "the dictionary describes no columns, so jobs need no fit; submit jobs without a fit")
	}
	if !d.Fits() {
		return in.Refuse("dictionary", "with \"scale: %s\", the dictionary needs no fit; submit jobs without a fit", d.Scale)
	}
	return j.finishStudy(in)
}

// kindIn returns the value of the key kind in a file; "" if the file has no such key.
func kindIn(root *yaml.Node) string {
	if root.Kind != yaml.MappingNode {
		return ""
	}
	if at := valueOf(root, "kind"); at >= 0 {
		return root.Content[at].Value
	}
	return ""
}
