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

// Cell is one point of a job's grid, cross-validated on the training rows.
type Cell struct {
	Kernel  kernel.Spec `json:"kernel"`
	Numbers []Number    `json:"-"` // of the learner; in JSON a key for each, after kernel

	Score   string    `json:"score"`   // what cells are chosen by: a metric
	Folds   []float64 `json:"folds"`   // the score on each
	Mean    float64   `json:"mean"`    // of Folds
	Correct int       `json:"correct"` // rows that got their class while they were held out; 0 of a regression
	Rows    int       `json:"n"`
	Best    bool      `json:"best"` // the one that was chosen
	// The same cell on pooled rows, computed by a launching process that owns the data; null
	// otherwise.
	PooledMean    *float64 `json:"pooled_mean"`
	PooledCorrect *int     `json:"pooled_correct"`
}

// Number is a setting of a learner for which a job may list several values.
type Number struct {
	Key   string
	Value float64
}

// NumbersOf returns a learner's numbers, in canonical order. It omits zeros.
func NumbersOf(l job.Named) []Number {
	var list []Number
	keys, texts := l.Varying()
	for i, text := range texts {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("learner: a number of a job is none: " + err.Error()) // its section has written it
		}
		list = append(list, Number{keys[i], value})
	}
	return list
}

// Number returns the number of a key; 0 if the cell has none.
func (c *Cell) Number(key string) float64 {
	if i := slices.IndexFunc(c.Numbers, func(n Number) bool { return n.Key == key }); i >= 0 {
		return c.Numbers[i].Value
	}
	return 0
}

// MarshalJSON writes the numbers after the kernel.
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

// UnmarshalJSON reads the keys between the kernel and the score as the learner's numbers.
func (c *Cell) UnmarshalJSON(text []byte) error {
	type plain Cell
	c.Numbers = nil
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	_, err := d.Token() // the brace
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
