// Package local declares the functions of a method in a process that owns the data of all members.
// Such a process can play all members, or compare the job's result with results on pooled rows. No
// daemon links it or any package below it.
package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// LocalSupport holds the functions of one protocol for a process that owns all data. Unsupported
// functions are nil.
type LocalSupport struct {
	Name string // the protocol's word in job files
	// Play runs every member of a job in this process. It is for protocols whose members are too many
	// to have one process each, and for protocols without a coordinator.
	Play func(context.Context, Play) (*method.Result, error)
	// Compare adds comparisons on the pooled rows to the result of a finished job. It makes all
	// comparisons that the job requests. A job that Play runs gets its comparisons from Play. When ctx ends, training in
	// progress stops soon with an error that wraps ctx's error. Package pool has the parts that
	// several protocols need.
	Compare func(context.Context, Comparison) error
	// Files returns pointers to the file paths in a result's Details, by the kind of file. The
	// files are in Play.Dir. A program that moves a file changes its path through the pointer.
	Files func(*method.Result) map[string]*string
	// Warnings returns warnings about a job before it runs.
	Warnings func(*job.Job) []string
}

// Comparison holds a finished job and the rows of all parties, in the order of Job.Parties. In a
// job by columns, each table has the party's own columns of the rows that all parties have. These
// rows are in the order of the job, held-out rows last.
type Comparison struct {
	Job    *job.Job
	Splits []method.Split
	// Pooled returns the splits as the owner of all rows would prepare them, without the parties'
	// limits. It is nil in a job by columns.
	Pooled  func() ([]method.Split, error)
	Outcome *method.Outcome
	Result  *method.Result // Result.Details can be undecoded JSON; see method.DetailsOf
}

// Play holds the inputs of a job whose members one process plays.
type Play struct {
	Job      *job.Job
	Rows     func(source string) (*dataset.Set, error)     // reads a table that the job names
	Ratings  func(source string) (*dataset.Ratings, error) // reads ratings that the job names
	Dir      string                                        // folder of the files that the result names
	Seed     func(label string) [32]byte                   // returns a member's seed by its label
	Progress func(protocol.Progress)
}

// Step is one named stage of a job that this process plays.
type Step struct {
	Name string
	Do   func(context.Context) error
}

// Run runs the steps in order. It adds to the result the duration of each step and the total time
// since start.
func Run(ctx context.Context, start time.Time, r *method.Result, steps []Step) error {
	for _, s := range steps {
		at := time.Now()
		if err := s.Do(ctx); err != nil {
			return err
		}
		r.Timings[s.Name] = time.Since(at).Seconds()
	}
	r.Timings["total"] = time.Since(start).Seconds()
	return nil
}

// SaveModel writes a model to a file and adds the file to the result.
func SaveModel(r *method.Result, owner, path string, model []byte) error {
	hash := sha256.Sum256(model)
	r.Models = append(r.Models, method.ModelFile{Party: owner, Path: path, SHA256: hex.EncodeToString(hash[:])})
	r.ModelHash = method.HashModels(r.Models)
	return disk.Replace(path, model)
}

// Of selects the functions for a job's protocol. If the list has none for this protocol, all
// functions are nil.
func Of(list []LocalSupport, j *job.Job) LocalSupport {
	for _, o := range list {
		if o.Name == j.Protocol.Name() {
			return o
		}
	}
	return LocalSupport{}
}
