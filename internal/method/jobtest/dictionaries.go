package jobtest

import (
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
)

// Dictionaries holds the data dictionaries that all operators of a test have approved.
type Dictionaries struct {
	mu     sync.Mutex
	byHash map[string]*job.Dictionary
}

// Approve makes and approves a dictionary of the job's own columns, and returns the job with that
// dictionary. It returns a job without columns, and a job that has a dictionary, unchanged.
func (d *Dictionaries) Approve(j *job.Job) *job.Job {
	if j.Data.Schema == nil || j.Data.Dictionary != nil {
		return j
	}
	dict := &job.Dictionary{Name: "columns", Columns: slices.Clone(j.Data.Schema), Fraction: 0.25}
	if f := j.Data.Test.Fraction; f > 0 {
		dict.Fraction = f
	}
	for _, c := range dict.Columns {
		if c.Missing == prepare.FillDropRow {
			dict.Complete = append(dict.Complete, c.Name)
		}
	}
	if label := j.Data.Label; label != "" && label != job.NoLabel {
		dict.Labels = []job.LabelColumn{{Name: label, Classes: j.Data.Order, Merged: j.Data.Classes, Titles: j.Data.Titles}}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byHash == nil {
		d.byHash = make(map[string]*job.Dictionary)
	}
	d.byHash[dict.Hash()] = dict
	named := *j
	named.Data.Dictionary, named.Data.Read = dict, dict.Columns
	return &named
}

// Find implements the field Dictionary of [job.Reader].
func (d *Dictionaries) Find(_, hash string) (*job.Dictionary, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if dict := d.byHash[hash]; dict != nil {
		return dict, nil
	}
	return nil, job.ErrUnapproved
}

// Approved reports whether a dictionary is approved for all tables.
func (d *Dictionaries) Approved(hash, _ string) (bool, error) {
	_, err := d.Find("", hash)
	return err == nil, nil
}
