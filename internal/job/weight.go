package job

import (
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// WeightColumn describes a column of row weights in a dictionary.
type WeightColumn struct {
	Name  string
	Range [2]float64 // least and greatest weight; zero for any
}

// weightColumns reads and writes a dictionary's map from weight column to description.
type weightColumns struct{ *Dictionary }

func (v weightColumns) Decode(key string, n *yaml.Node) error {
	switch {
	case n.Kind != yaml.MappingNode:
		return section.At(n, "%s is %s; write a map such as {survey: {range: [0, 10]}}", key, section.Describe(n))
	case len(n.Content) == 0:
		return section.At(n, "%s has no column; describe one, as in {survey: {range: [0, 10]}}, or remove %s", key, key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		w := WeightColumn{Name: n.Content[i].Value}
		switch _, twice := v.weight(w.Name); {
		case w.Name == "":
			return section.At(n.Content[i], "%s is not a name for a column of weights; write the column's name", section.Quote(w.Name))
		case twice:
			return section.At(n.Content[i], "%s describes %s twice; keep one", key, section.Quote(w.Name))
		}
		if err := (weightColumn{&w, v.Dictionary}).Section().Decode("weight "+section.Quote(w.Name), n.Content[i+1]); err != nil {
			return err
		}
		v.Weights = append(v.Weights, w)
	}
	return nil
}

func (v weightColumns) Encode() *yaml.Node {
	if v.Weights == nil {
		return nil
	}
	m := section.Map()
	for _, w := range v.Weights {
		m.Content = append(m.Content, section.Word(w.Name), orEmpty(weightColumn{&w, v.Dictionary}.Section().Encode()))
	}
	return m
}

func (v weightColumns) Form() string { return "a map such as {survey: {range: [0, 10]}}" }

// Each returns the declaration of one weight column, which the documentation shows.
func (v weightColumns) Each() *section.Section {
	return weightColumn{new(WeightColumn), new(Dictionary)}.Section()
}

// weightColumn reads and writes the description of one weight column.
type weightColumn struct {
	*WeightColumn
	of *Dictionary
}

func (w weightColumn) Section() *section.Section {
	return &section.Section{Name: "a weight of the dictionary", Fields: []section.Field{
		{Key: "range", Value: section.Interval{Dst: &w.Range}, Else: "none; any finite number",
			Doc: "The least and the greatest weight. A table with another weight is refused."},
		textFor{w.Name, w.of}.field(),
	}, Finish: func(in *section.Place) error {
		if !in.Given("range") {
			return nil
		}
		if err := CheckRange(in, "range", "range", w.Range); err != nil {
			return err
		}
		if w.Range[1] <= 0 {
			return in.Refuse("range", "range ends at %g, but only rows with a weight above 0 train; write a greater number", w.Range[1])
		}
		return nil
	}}
}

// weight returns the description of the weight column with a name.
func (d *Dictionary) weight(name string) (WeightColumn, bool) {
	for _, w := range d.Weights {
		if w.Name == name {
			return w, true
		}
	}
	return WeightColumn{}, false
}

// finishWeights refuses a weight column that is also a label or a feature.
func (d *Dictionary) finishWeights(in *section.Place) error {
	for _, w := range d.Weights {
		if _, label := d.label(w.Name); label || d.Columns.Index(w.Name) >= 0 {
			return in.Refuse("weights", "%s is in \"weights\", and also in \"labels\" or \"columns\"; remove it from one of the two", section.Quote(w.Name))
		}
	}
	return nil
}

// DescribeWeight sets the data's weight and its range to those of a dictionary's weight column.
func (d *Data) DescribeWeight(w WeightColumn) { d.Weight, d.Weights = w.Name, w.Range }

// finishWeight refuses a weight column with a second use, and one that the dictionary lacks. It sets the
// range of the weights from the dictionary.
func (d *Data) finishWeight(in *section.Place) error {
	if !in.Given("weight") {
		return nil
	}
	switch {
	case d.Weight == d.Label || d.Weight == d.ID || d.Weight == d.Group:
		return in.Refuse("weight", "column %s is the weight, and also the label, the id or the group; name another column as weight", section.Quote(d.Weight))
	case in.Given("schema") && d.Schema.Index(d.Weight) >= 0:
		return in.Refuse("schema", "\"schema\" describes %s, which is the weight; remove the column from \"schema\"", section.Quote(d.Weight))
	case d.Dictionary == nil:
		return nil
	}
	w, described := d.Dictionary.weight(d.Weight)
	if !described {
		names := make([]string, len(d.Dictionary.Weights))
		for i, w := range d.Dictionary.Weights {
			names[i] = w.Name
		}
		return in.Refuse("weight", "weight is %s, which is not a weight of the dictionary; the dictionary has %s", section.Quote(d.Weight), listedOr(names, "none"))
	}
	d.DescribeWeight(w)
	return nil
}

// finishWeight returns a check that refuses weights in a job whose protocol does not pass them to
// the learner. The error names the protocols that do.
func (r *Reader) finishWeight(j *Job) func(*section.Place) error {
	return func(in *section.Place) error {
		if j.Data.Weight == "" || j.Traits().Weighted {
			return nil
		}
		var able []string
		for _, p := range r.Protocols {
			if p.Traits().Weighted {
				able = append(able, p.Name())
			}
		}
		return in.Refuse("data.weight", "protocol %s does not weight rows, but %s do; use one of them, or remove \"weight\"", j.Protocol.Name(), joinNames(able))
	}
}
