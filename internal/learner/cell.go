package learner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
)

// Cell is one combination of parameters in a job's grid, with its cross-validation scores.
type Cell struct {
	Kernel  kernel.Spec `json:"kernel"`
	Numbers []Number    `json:"-"` // settings of the learner, which MarshalJSON writes after the kernel

	Score   string    `json:"score"`   // name of the metric by which cells are compared
	Folds   []float64 `json:"folds"`   // score on each fold; one over all rows if each row is a fold
	Mean    float64   `json:"mean"`    // mean of Folds
	Correct int       `json:"correct"` // number of rows that were classified correctly while held out; 0 for a regression
	Rows    int       `json:"n"`
	Best    bool      `json:"best"` // whether the job chose this cell
	// PooledMean and PooledCorrect are the cell's scores on the pooled rows of all parties. A
	// process that owns all data computes them for the comparison pooled; otherwise they are null.
	PooledMean    *float64 `json:"pooled_mean"`
	PooledCorrect *int     `json:"pooled_correct"`
}

// Number is a setting of a learner for which a job file can list several values.
type Number struct {
	Key   string
	Value float64
}

// NumbersOf returns the settings of a learner that a grid can list, in canonical order. It omits zeros.
func NumbersOf(l job.Named) []Number {
	var list []Number
	keys, texts := l.Varying()
	for i, text := range texts {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("learner: a number of a job is none: " + err.Error()) // unreachable: the learner's section formats only numbers
		}
		list = append(list, Number{keys[i], value})
	}
	return list
}

// Number returns the value of a setting, or 0 if the cell does not have it.
func (c *Cell) Number(key string) float64 {
	if i := slices.IndexFunc(c.Numbers, func(n Number) bool { return n.Key == key }); i >= 0 {
		return c.Numbers[i].Value
	}
	return 0
}

// MarshalJSON writes the learner's settings after the kernel.
func (c Cell) MarshalJSON() ([]byte, error) {
	type plain Cell
	text, err := json.Marshal(plain(c))
	if err != nil {
		return nil, err
	}
	first, err := json.Marshal(c.Kernel)
	if err != nil {
		return nil, err
	}
	var numbers []byte
	for _, n := range c.Numbers {
		value, err := json.Marshal(n.Value)
		if err != nil {
			return nil, err
		}
		numbers = fmt.Appendf(numbers, ",%q:%s", n.Key, value)
	}
	return slices.Insert(text, len(`{"kernel":`)+len(first), numbers...), nil
}

// UnmarshalJSON reads the keys between "kernel" and "score" as the learner's settings.
func (c *Cell) UnmarshalJSON(text []byte) error {
	type plain Cell
	c.Numbers = nil
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	_, err := d.Token() // the opening brace
	for err == nil && d.More() {
		key, failed := d.Token()
		if failed != nil || key == "score" {
			return failed
		}
		n := Number{}
		if n.Key, _ = key.(string); n.Key == "kernel" {
			err = d.Decode(&kernel.Spec{})
			continue
		}
		err = d.Decode(&n.Value)
		c.Numbers = append(c.Numbers, n)
	}
	return err
}
