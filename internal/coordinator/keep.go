package coordinator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/model"
)

// keep writes a job's model, decisions and result into its folder; the result
// comes last, so that it is there only if all is.
func (c *Coordinator) keep(j *Job, srv *stage.Server, a *account) (*stage.Result, error) {
	result := srv.Result(a.facts)
	sum := sha256.New()
	path := c.path(j.ID, modelFile)
	if err := disk.ReplaceBy(path, func(w io.Writer) error { return srv.EncodeModel(io.MultiWriter(w, sum)) }); err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	result.Models = []stage.Model{{Party: c.name, Path: path, SHA256: hex.EncodeToString(sum.Sum(nil)), Private: srv.Private()}}
	result.ModelHash = stage.HashModels(result.Models)
	a.settle(result, j.Spec.Parties())
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	err = disk.Replace(c.path(j.ID, decisionsFile), srv.Outcome().Encode())
	if err == nil && j.Spec.Prediction == job.Open {
		err = c.keepAnswers(j, srv)
	}
	if err == nil {
		err = disk.Replace(c.path(j.ID, resultFile), text)
	}
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	return result, nil
}

// keepAnswers writes what questions about new rows need here, if anything.
func (c *Coordinator) keepAnswers(j *Job, srv *stage.Server) error {
	answers, err := srv.KeptAnswers()
	if err != nil || answers == nil {
		return err
	}
	return disk.Replace(c.path(j.ID, answersFile), answers)
}

// discard removes what a failed job had written before it failed: the model
// may hold encoded rows.
func (c *Coordinator) discard(id session.JobID) error {
	entries, err := os.ReadDir(c.folder(id))
	for _, e := range entries {
		if e.Name() != specFile && e.Name() != statusFile {
			err = errors.Join(err, os.Remove(c.path(id, e.Name())))
		}
	}
	return err
}

// Outcome returns what a finished job decided about its held-out rows.
func (c *Coordinator) Outcome(id session.JobID) (*stage.Outcome, error) {
	if err := c.done(id); err != nil {
		return nil, err
	}
	return c.readOutcome(id)
}

// done refuses a job that has no result.
func (c *Coordinator) done(id session.JobID) error {
	j, err := c.Get(id)
	if err == nil && j.State != Done {
		err = fmt.Errorf("coordinator: job %v is %s and has no result", id, j.State)
	}
	if err != nil {
		return session.BadInput(err)
	}
	return nil
}

func (c *Coordinator) readOutcome(id session.JobID) (*stage.Outcome, error) {
	b, err := os.ReadFile(c.path(id, decisionsFile))
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	return stage.DecodeOutcome(b)
}

// Download returns the model file of a finished job, unless it is private: the
// encoded rows in it can be decoded by every party.
func (c *Coordinator) Download(id session.JobID) ([]byte, error) {
	if err := c.done(id); err != nil {
		return nil, err
	}
	j, err := c.Get(id)
	if err != nil {
		return nil, err
	}
	if name := j.Spec.Protocol.Name; name.Vertical() {
		return nil, session.BadInput(fmt.Errorf("coordinator: the model of job %v lies in parts with its parties (protocol %s), and no file predicts without them; where predictions are open, ask a party: mercer predict --home HOME --job %v DATA", id, name, id))
	}
	b, err := os.ReadFile(c.path(id, modelFile))
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	if model.IsRandom(b) || j.Spec.Protocol.Name == job.FedCFK {
		return b, nil
	}
	if _, err := model.Open(bytes.NewReader(b)); err != nil {
		if errors.Is(err, model.ErrPrivate) {
			err = session.Forbidden(err)
		}
		return nil, err
	}
	return b, nil
}

// readJobs reads the folders that an earlier process left.
func (c *Coordinator) readJobs() error {
	if err := os.MkdirAll(c.Jobs, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.Jobs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, err := session.ParseJobID(e.Name())
		if err != nil {
			continue // not ours
		}
		j, err := c.readJob(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its submission was interrupted, so nobody was told its id
		}
		if err != nil {
			return fmt.Errorf("job %v: %w", id, err)
		}
		c.jobs[id] = j
		c.order = append(c.order, id)
	}
	slices.SortFunc(c.order, func(a, b session.JobID) int { return c.jobs[a].Order - c.jobs[b].Order })
	c.nudge()
	return nil
}

func (c *Coordinator) readJob(id session.JobID) (*Job, error) {
	spec, err := os.ReadFile(c.path(id, specFile))
	if err != nil {
		return nil, err
	}
	status, err := os.ReadFile(c.path(id, statusFile))
	if err != nil {
		return nil, err
	}
	j := &Job{ID: id}
	if j.Spec, err = job.Parse(c.path(id, specFile), spec); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(status, &j.Status); err != nil {
		return nil, err
	}
	if j.Failure == nil && (j.State == Closing || j.State == Done) {
		j.Result, err = c.readResult(id)
	}
	return j, err
}

func (c *Coordinator) readResult(id session.JobID) (*stage.Result, error) {
	b, err := os.ReadFile(c.path(id, resultFile))
	if err != nil {
		return nil, err
	}
	r := &stage.Result{}
	return r, json.Unmarshal(b, r)
}
