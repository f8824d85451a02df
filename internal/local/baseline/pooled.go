package baseline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// RunPooled runs a job of protocol pooled. The protocol trains on all rows in one place, without
// any privacy. It writes the model to an ordinary file in dir.
func RunPooled(ctx context.Context, j *job.Job, shares []partition.Share, dir string) (*method.Result, *method.Outcome, error) {
	began := time.Now()
	splits, err := partition.Splits(j, shares)
	if err != nil {
		return nil, nil, fault.BadInput(err)
	}
	p, err := pool.Prepare(j, splits, splits)
	if err != nil {
		return nil, nil, err
	}
	w, err := train(ctx, j, p, splits)
	if err != nil {
		return nil, nil, err
	}
	m, err := save(p, w, filepath.Join(dir, "model.mercer"))
	if err != nil {
		return nil, nil, err
	}
	seconds, r := time.Since(began).Seconds(), method.NewResult(j, w)
	r.TellSplit(j)
	r.Timings = map[string]float64{"learn": seconds, "total": seconds}
	r.Models = []method.ModelFile{m}
	r.ModelHash = method.HashModels(r.Models)
	r.Leakage = map[string][]string{"server": {allInOnePlace}}
	r.Exposures = map[string]protocol.Exposure{"server": {Reach: protocol.ReachAll, Why: allInOnePlace}}
	return r, method.NewOutcome(w.Fitted), nil
}

// allInOnePlace says that a pooled job has no privacy.
const allInOnePlace = "Protocol pooled has no privacy: the operator who runs it holds all rows."

// train trains the learner. Unless the job has "test: none", it also evaluates the learner, on held-out rows or, if
// there are none, by the cross-validation.
func train(ctx context.Context, j *job.Job, p *pool.Rows, splits []method.Split) (*learner.Work, error) {
	problem, err := p.Input(j)
	if err != nil {
		return nil, err
	}
	w, count := &learner.Work{Problem: problem}, method.Reporter(nil).Counts
	if err := w.Do(ctx, j, "learn", count); err != nil {
		return nil, err
	}
	registerRows(w, j.Parties(), splits)
	if j.Data.Test.None {
		w.Metrics = w.Fitted.Figures()
		return w, nil
	}
	return w, w.Do(ctx, j, "evaluate", count)
}

// registerRows records to which party each row belongs. Training rows come before held-out rows,
// both in the order of the parties. It allows the figures of every party, because this process owns all rows.
func registerRows(w *learner.Work, parties []string, splits []method.Split) {
	first := 0
	for _, held := range []bool{false, true} {
		for i, name := range parties {
			end := first + pool.Count(splits[i:i+1], held)
			w.Hold(name, first, end, learner.Allowed)
			first = end
		}
	}
}

// save writes the model together with the scaling of its input columns.
func save(p *pool.Rows, w *learner.Work, path string) (method.ModelFile, error) {
	var scale *model.Scale
	if len(p.Scaling.Offset) > 0 {
		scale = &model.Scale{Offset: p.Scaling.Offset, Factor: p.Scaling.Factor}
	}
	m, err := model.New(w.Choice.Job.Kernel.Spec(), scale, linalg.Pick(p.X, w.Fitted.Support), w.Fitted.Head)
	if err != nil {
		return method.ModelFile{}, err
	}
	if m, err = m.Named(p.Columns); err != nil {
		return method.ModelFile{}, err
	}
	var prepared []byte
	if p.Prepared != nil {
		prepared = p.Prepared.Encode()
	}
	hash := sha256.New()
	err = disk.ReplaceBy(path, func(w io.Writer) error {
		return model.EncodePrepared(io.MultiWriter(w, hash), prepared, func(w io.Writer) error { return model.Encode(w, m) })
	})
	return method.ModelFile{Party: "pooled", Path: path, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}
