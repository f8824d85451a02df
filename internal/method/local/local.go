// Package local declares what a method can do in a process that owns the data of all members: play
// all members, or compare the job's result with results from the rows in one place. No daemon links
// it or any package below it.
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

// LocalSupport is the support of one protocol for a process that owns all data. Unsupported
// functions are nil.
type LocalSupport struct {
	Name string // the protocol's word in job files
	// Play plays every member of a job in this process, because there are too many for a process
	// each, or because no coordinator runs the protocol.
	Play func(context.Context, Play) (*method.Result, error)
	// Compare adds to the result of a finished job the results from the same rows in one place. It
	// makes all comparisons that the job requests; no other code makes any. Training in progress
	// when ctx ends stops soon, with an error that wraps ctx's error. Package baseline has the
	// parts that several protocols need.
	Compare func(context.Context, Comparison) error
	// Files lists the paths of the files in Play.Dir that a result's Details name, by their kind. A
	// program that moves a file changes its path here.
	Files func(*method.Result) map[string]*string
	// Warnings returns warnings about a job before it runs.
	Warnings func(*job.Job) []string
}

// Comparison is a finished job with the rows of all parties, in the order of Job.Parties. Between
// parties with columns, each table has the party's own columns of the rows that all have, in the
// order of the job, held-out rows last.
type Comparison struct {
	Job     *job.Job
	Splits  []method.Split
	Outcome *method.Outcome
	Result  *method.Result // its Details may be as they were read back; see method.DetailsOf
}

// Play holds the inputs of a job to play.
type Play struct {
	Job      *job.Job
	Rows     func(source string) (*dataset.Set, error)     // reads a table that the job names
	Ratings  func(source string) (*dataset.Ratings, error) // reads ratings that the job names
	Dir      string                                        // for the files that the result names
	Seed     func(label string) [32]byte                   // of every member, by a label
	Progress func(protocol.Progress)
}

// Step is one stage of a played job.
type Step struct {
	Name string
	Do   func(context.Context) error
}

// Run runs the steps in order. It adds to the result the time of each step, and of the job since it
// began.
func Run(ctx context.Context, began time.Time, r *method.Result, steps []Step) error {
	for _, s := range steps {
		at := time.Now()
		if err := s.Do(ctx); err != nil {
			return err
		}
		r.Timings[s.Name] = time.Since(at).Seconds()
	}
	r.Timings["total"] = time.Since(began).Seconds()
	return nil
}

// SaveModel writes a model of the result to a file.
func SaveModel(r *method.Result, owner, path string, model []byte) error {
	hash := sha256.Sum256(model)
	r.Models = append(r.Models, method.ModelFile{Party: owner, Path: path, SHA256: hex.EncodeToString(hash[:])})
	r.ModelHash = method.HashModels(r.Models)
	return disk.Replace(path, model)
}

// Of finds the support for a job's protocol; without any, all functions are nil.
func Of(list []LocalSupport, j *job.Job) LocalSupport {
	for _, o := range list {
		if o.Name == j.Protocol.Name() {
			return o
		}
	}
	return LocalSupport{}
}
