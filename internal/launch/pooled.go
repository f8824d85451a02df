package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// RunPooled runs a job of protocol pooled: everything on the rows in one
// place, without any privacy. The model it leaves is an ordinary file.
func RunPooled(ctx context.Context, j *job.Job, shares []Share, dir string) (*method.Result, *method.Outcome, error) {
	began := time.Now()
	splits, err := splits(j, shares)
	if err != nil {
		return nil, nil, fault.BadInput(err)
	}
	p, err := baseline.Prepare(j, splits, splits)
	if err != nil {
		return nil, nil, err
	}
	task := p.Problem()
	choice, err := learner.Choose(ctx, j, task, nil)
	if err != nil {
		return nil, nil, err
	}
	f, err := choice.Fit(ctx, task, nil)
	if err != nil {
		return nil, nil, err
	}
	metrics, err := f.Measure()
	if err != nil {
		return nil, nil, err
	}
	m, err := save(p, choice.Job, f, filepath.Join(dir, "model.mercer"))
	if err != nil {
		return nil, nil, err
	}
	seconds := time.Since(began).Seconds()
	return &method.Result{
		Job: j.Name, Metrics: metrics, Grid: append([]learner.Cell{}, choice.Grid...), HeldOut: baseline.Count(splits, true), Training: baseline.Count(splits, false),
		Support: len(f.Support), Eigenvalues: f.Eigenvalues,
		Timings: map[string]float64{"learn": seconds, "total": seconds},
		Models:  []method.ModelFile{m}, ModelHash: method.HashModels([]method.ModelFile{m}),
		Leakage: map[string][]string{"server": {"Protocol pooled has no privacy: whoever runs it holds all rows."}},
	}, method.NewOutcome(f), nil
}

// save writes the model, with the scaling that its rows need.
func save(p *baseline.Rows, j *job.Job, f *learner.Fitted, path string) (method.ModelFile, error) {
	var scale *model.Scale
	if len(p.Scaling.Offset) > 0 {
		scale = &model.Scale{Offset: p.Scaling.Offset, Factor: p.Scaling.Factor}
	}
	m, err := model.New(j.Kernel.Spec(), scale, linalg.Pick(p.X, f.Support), f.Head)
	if err != nil {
		return method.ModelFile{}, err
	}
	if m, err = m.Named(p.Columns); err != nil {
		return method.ModelFile{}, err
	}
	hash := sha256.New()
	err = disk.ReplaceBy(path, func(w io.Writer) error { return model.Encode(io.MultiWriter(w, hash), m) })
	return method.ModelFile{Party: "pooled", Path: path, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}
