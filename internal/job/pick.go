package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// errNoDictionaries refuses a job that names a dictionary if the reader knows no dictionaries.
var errNoDictionaries = errors.New("this command knows no dictionaries; for mercer simulate, describe the columns in the job, or put the file NAME.yaml beside the job")

// ErrUnapproved reports a dictionary that the operator of this home (a member's folder of keys and settings) has
// not approved. Peers are allowed to see this error.
var ErrUnapproved = errors.New("this home has not approved the dictionary; its operator must compare the file with the other operators' files and run mercer federation dictionary approve FILE")

// errOtherDictionary refuses a dictionary whose hash is not the one that the job states.
var errOtherDictionary = errors.New("the dictionary that was found has another hash; compare the two files")

// dictionaryOf reads and writes the key "dictionary": a name, a name and hash, or the dictionary
// itself.
type dictionaryOf struct {
	*Data
	reader *Reader
}

func (v dictionaryOf) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		v.Dictionary = new(Dictionary)
		return v.Dictionary.Section().Decode(key, n)
	}
	var ref string
	if err := (section.Text{Dst: &ref}).Decode(key, n); err != nil {
		return err
	}
	name, hash, _ := strings.Cut(ref, "@")
	err := errNoDictionaries
	if v.reader != nil && v.reader.Dictionary != nil {
		v.Dictionary, err = v.reader.Dictionary(name, hash)
	}
	switch {
	case err != nil:
	case v.Dictionary.Name != name:
		err = fmt.Errorf("the dictionary that was found is called %s; write that name here, or correct \"metadata: {name: ...}\" in the dictionary", section.Quote(v.Dictionary.Name))
	case hash != "" && v.Dictionary.Hash() != hash:
		err = errOtherDictionary
	}
	if err != nil {
		return section.At(n, "dictionary %s: %w", section.Quote(name), err)
	}
	return nil
}

func (v dictionaryOf) Encode() *yaml.Node {
	switch {
	case v.Dictionary == nil:
		return nil
	case v.Dictionary.Name == "":
		return v.Dictionary.Section().Encode()
	}
	return section.Word(v.Dictionary.Reference())
}

func (v dictionaryOf) Form() string {
	return "a name, or in simulate a map such as {columns: {age: {range: [0, 120]}}}"
}

// Map declares the keys of a dictionary inside a job.
func (v dictionaryOf) Map() *section.Section { return new(Dictionary).Section() }

// ownSchema reads and writes a job's own schema. It does not write a schema that comes from a
// dictionary.
type ownSchema struct {
	schemaMap
	of *Data
}

func (v ownSchema) Encode() *yaml.Node {
	if v.of.Dictionary != nil {
		return nil
	}
	return v.schemaMap.Encode()
}

// ownClasses reads and writes the key "classes", which a job with a dictionary does not have.
type ownClasses struct {
	mergedClasses
	of *Data
}

func (v ownClasses) Encode() *yaml.Node {
	if v.of.Dictionary != nil {
		return nil
	}
	return v.mergedClasses.Encode()
}

// finishDictionary sets the job's columns, label and fraction from the dictionary.
func (d *Data) finishDictionary(in *section.Place) error {
	dict := d.Dictionary
	switch {
	case dict == nil && in.Given("columns"):
		return in.Refuse("columns", "\"columns\" needs a dictionary, and the job names none; add \"dictionary\", or remove \"columns\"")
	case dict == nil:
		return nil
	case in.Given("schema"):
		return in.Refuse("schema", "\"schema\" describes columns, but the dictionary describes them already; remove \"schema\"")
	case in.Given("classes"):
		return in.Refuse("classes", "the dictionary merges the classes; remove \"classes\"")
	case d.Order != nil || d.Titles != nil:
		return in.Refuse("label", "the dictionary lists the classes and their titles; remove \"classes\" and \"titles\" from \"label\"")
	case d.Partition.By == Devices:
		return in.Refuse("dictionary", "\"dictionary\" is for parties with tables, not for devices; remove it")
	case in.Given("features"):
		return in.Refuse("features", "the dictionary lists the features; remove \"features\"")
	case dict.Leader != "" && cmp.Or(d.Partition.By, Rows) == Rows && len(d.parties()) > 0 && d.parties()[0] != dict.Leader:
		return in.Refuse("dictionary", "the dictionary's leader is %s, which must be the job's first party; list %s first", section.Quote(dict.Leader), dict.Leader)
	}
	for _, pick := range []func(*section.Place) error{d.pickColumns, d.pickLabel, d.pickFraction} {
		if err := pick(in); err != nil {
			return err
		}
	}
	return nil
}

// parties lists the parties that the job names.
func (d *Data) parties() []string { return (&Job{Data: *d}).Parties() }

func (d *Data) pickColumns(in *section.Place) error {
	d.Read, d.Schema = d.Dictionary.Columns, d.Dictionary.Columns
	switch {
	case !in.Given("columns"):
		return nil
	case d.Read == nil:
		return in.Refuse("columns", "\"columns\" needs a dictionary that describes columns, and this one describes none; remove \"columns\"")
	case len(d.Picked) == 0:
		return in.Refuse("columns", "\"columns\" is empty; name at least one column, or remove the key to use all columns")
	}
	d.Schema = make(prepare.Schema, 0, len(d.Picked))
	for _, name := range d.Picked {
		at := d.Read.Index(name)
		if at < 0 {
			return in.Refuse("columns", "\"columns\" names %s, which the dictionary does not have; the dictionary has %s", section.Quote(name), joinNames(d.Read.Names()))
		}
		d.Schema = append(d.Schema, d.Read[at])
	}
	return nil
}

func (d *Data) pickLabel(in *section.Place) error {
	if d.Label == "" || d.Label == NoLabel {
		return nil
	}
	l, described := d.Dictionary.label(d.Label)
	if !described {
		return in.Refuse("label", "label is %s, which is not a label of the dictionary; the dictionary has %s", section.Quote(d.Label), listedOr(d.Dictionary.labelNames(), "none"))
	}
	d.DescribeLabel(l)
	return nil
}

// DescribeLabel sets the data's label, classes, titles and range to those of a dictionary's label column.
func (d *Data) DescribeLabel(l LabelColumn) {
	d.Label, d.Order, d.Classes, d.Titles, d.Range = l.Name, slices.Clone(l.Classes), l.Merged, l.Titles, l.Range
}

// finishPickedLabel uses the dictionary's only label if the learner needs a label and the job names
// none. The classes always come from the dictionary, so that no job distinguishes classes that the
// dictionary merges.
func (j *Job) finishPickedLabel(in *section.Place) error {
	d, task := &j.Data, j.Task()
	if d.Dictionary == nil {
		return nil
	}
	if d.Label == "" && task.Labels != "" {
		if len(d.Dictionary.Labels) != 1 {
			return in.Refuse("data", "\"data\" names no label, and the dictionary has %s; write \"label\" with the name of one", listedOr(d.Dictionary.labelNames(), "none"))
		}
		d.DescribeLabel(d.Dictionary.Labels[0])
	}
	if task.Numbers && (d.Order != nil || d.Classes != nil || d.Titles != nil) {
		return in.Refuse("data.label", "learner %s predicts numbers, but the dictionary's label %s has classes; name a label that is a number", j.Learner.Name(), section.Quote(d.Label))
	}
	if !task.Numbers {
		d.Range = [2]float64{}
	}
	return nil
}

func (d *Data) pickFraction(in *section.Place) error {
	switch {
	case d.Test.Fraction != 0 && d.Test.Fraction != d.Dictionary.Fraction:
		return in.Refuse("test", "test holds out %g of the rows, but the dictionary's fraction for all jobs is %g; write that, or another fraction in the dictionary", d.Test.Fraction, d.Dictionary.Fraction)
	case d.Test == (Test{}) && d.Folds == 0:
		d.Test.Fraction = d.Dictionary.Fraction
	}
	return nil
}

func listedOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return joinNames(names)
}
