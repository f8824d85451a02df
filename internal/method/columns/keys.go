// Package columns holds the common part of methods for parties that hold different columns of
// the same people.
package columns

import (
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Keys are the settings of the alignment; see protocol/psi.
type Keys struct {
	// MaxIDs limits the ids that each holder of columns may bring to the alignment, and so
	// the ids that it can look for in the others' tables.
	MaxIDs int
}

// mostIDs bounds the ids that a party may bring to the alignment.
const mostIDs = 1 << 22

// IDsKey declares the key max_ids.
func (k *Keys) IDsKey() section.Field {
	return section.Field{
		Key: "max_ids", Value: section.Whole{Dst: &k.MaxIDs}, Default: "1048576",
		Doc: "The largest number of ids, up to 4194304, that a party may bring to the alignment.",
	}
}

// CheckIDs checks how many ids a party may bring.
func (k *Keys) CheckIDs(in *section.Place) error {
	if k.MaxIDs < 1 || k.MaxIDs > mostIDs {
		return in.Refuse("max_ids", "max_ids is %d; write how many rows a party may bring, from 1 to %d", k.MaxIDs, mostIDs)
	}
	return nil
}
