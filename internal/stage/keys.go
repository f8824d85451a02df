package stage

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/gram"
)

// The settings of each method, by names that protocols' packages leave free.
type (
	gramKeys  = gram.Keys
	fdsklKeys = fdskl.Keys
)

// is reports whether a job has the settings of a method.
func is[V section.Values](j *job.Job) bool {
	_, ok := j.Protocol.Values.(V)
	return ok
}

// vertical reports whether a job is one between holders of other columns of the
// same people.
func vertical(j *job.Job) bool { return j.Data.Partition.By == job.Columns }

// Values of settings that stages compare with.
const (
	cachedTraining  = fdskl.Cached
	precondTraining = fdskl.Precond
)
