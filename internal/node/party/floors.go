package party

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method"
)

// Floors holds an operator's settings for a table's floors: a nil field keeps its
// default. See [method.Floors].
type Floors struct {
	TrainingRows *int     `yaml:"training_rows,omitempty"`
	HeldOutRows  *int     `yaml:"held_out_rows,omitempty"`
	ClassRows    *int     `yaml:"class_rows,omitempty"`
	Share        *float64 `yaml:"share,omitempty"` // 0 for any
	Rows         *int     `yaml:"rows,omitempty"`
	Threshold    *int     `yaml:"threshold,omitempty"`
	Active       *bool    `yaml:"active,omitempty"`
	Corrupted    *float64 `yaml:"corrupted,omitempty"`
	Dropped      *float64 `yaml:"dropped,omitempty"` // 1 for any
}

// NoFloors asks for nothing.
func NoFloors() Floors {
	return Floors{
		TrainingRows: new(0), HeldOutRows: new(0), ClassRows: new(0), Share: new(0.0), Rows: new(0),
		Threshold: new(0), Active: new(false), Corrupted: new(0.0), Dropped: new(1.0),
	}
}

// Values are the floors that hold.
func (f Floors) Values() method.Floors {
	v := method.DefaultFloors()
	replace(&v.TrainingRows, f.TrainingRows)
	replace(&v.HeldOutRows, f.HeldOutRows)
	replace(&v.ClassRows, f.ClassRows)
	replace(&v.Share, f.Share)
	replace(&v.Rows, f.Rows)
	replace(&v.Threshold, f.Threshold)
	replace(&v.Active, f.Active)
	replace(&v.Corrupted, f.Corrupted)
	replace(&v.Dropped, f.Dropped)
	return v
}

func replace[T any](value *T, by *T) {
	if by != nil {
		*value = *by
	}
}

// validate finds numbers that are no floors.
func (f Floors) validate() error {
	v := f.Values()
	for _, n := range []struct {
		key   string
		value int
	}{
		{"training_rows", v.TrainingRows}, {"held_out_rows", v.HeldOutRows}, {"class_rows", v.ClassRows}, {"rows", v.Rows}, {"threshold", v.Threshold},
	} {
		if n.value < 0 {
			return fmt.Errorf("%s in the policy's floors is %d; write 0 for none, or a number above it", n.key, n.value)
		}
	}
	if !(v.Corrupted >= 0 && v.Corrupted < 1) {
		return fmt.Errorf("corrupted in the policy's floors is %g; write a share of the people from 0 to below 1", v.Corrupted)
	}
	if !(v.Share >= 0 && v.Share < 1) {
		return fmt.Errorf("share in the policy's floors is %g; write a share of all training rows from 0 to below 1", v.Share)
	}
	if !(v.Dropped > 0 && v.Dropped <= 1) {
		return fmt.Errorf("dropped in the policy's floors is %g; write a share of the people above 0 and up to 1", v.Dropped)
	}
	return nil
}
