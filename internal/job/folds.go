package job

import (
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// EachRow is the value of [Data.Folds] for leave-one-out cross-validation: each training row is a fold
// of its own.
const EachRow = math.MaxInt32

// eachWord is the word for EachRow in a job file.
const eachWord = "each"

// foldCount reads and writes a number of folds, or the word "each".
type foldCount struct{ dst *int }

func (v foldCount) Decode(key string, n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == eachWord {
		*v.dst = EachRow
		return nil
	}
	return section.Whole{Dst: v.dst}.Decode(key, n)
}

func (v foldCount) Encode() *yaml.Node {
	if *v.dst == EachRow {
		return section.Word(eachWord)
	}
	return section.Whole{Dst: v.dst}.Encode()
}

func (v foldCount) Form() string { return section.Whole{}.Form() + ", or each" }

// LeavesOneOut reports whether the job's cross-validation leaves out each training row by itself.
func (d *Data) LeavesOneOut() bool { return d.Folds == EachRow }
