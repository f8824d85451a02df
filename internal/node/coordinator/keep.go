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
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/model"
)

// Artifacts stores the sealed artifacts of finished jobs.
type Artifacts interface {
	Write(id job.ID, item vault.Item, write func(io.Writer) error) error
	Put(id job.ID, item vault.Item, secret []byte) error
	Get(id job.ID, item vault.Item) ([]byte, error)
	// Erase destroys all artifacts of a job, and returns their names. It returns no error if the
	// job has none.
	Erase(id job.ID) ([]vault.Item, error)
	// EraseItems destroys some artifacts of a job, and returns the names of those that were there.
	EraseItems(id job.ID, items ...vault.Item) ([]vault.Item, error)
}

// keepResults writes a job's artifacts and then its result. A result therefore exists only if all
// artifacts were written. A disk error counts as an interruption, because another process can write
// everything again. Unless one operator owns all rows, a private model of a job that keeps predictions
// closed is not kept: nobody could use it, and it holds rows that every party could decode.
func (c *Coordinator) keepResults(w *course) error {
	hub := w.hub
	result, err := hub.Result()
	if err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	result.TellSplit(w.job.Spec)
	result.Outside.Leak(result.Leakage)
	if err := addPreparation(hub, result); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	if result.Models, err = c.describeModel(w.job.Spec, hub); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	result.ModelHash = method.HashModels(result.Models)
	w.account.settle(result, w.job.Spec.Parties())
	result.About = learner.AboutRun(w.job.Spec, c.Version, time.Now())
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	err = c.writeArtifacts(w)
	if err == nil {
		err = disk.Replace(c.path(w.job.ID, resultFile), text)
	}
	if err != nil {
		return fmt.Errorf("coordinator: %w: %w", driver.ErrInterrupted, err)
	}
	return nil
}

// addPreparation adds to a result what the coordinator knows about the parties' preparation of
// their data.
func addPreparation(h *method.CoordinatorSide, r *method.Result) (err error) {
	if h.Prepared == nil {
		return nil
	}
	r.Prepared, err = h.Prepared()
	r.Prepared.Leak(r.Leakage)
	return err
}

// describeModel describes the coordinator's model for the result, or returns nil if the coordinator
// has no model.
func (c *Coordinator) describeModel(spec *job.Job, h *method.CoordinatorSide) ([]method.ModelFile, error) {
	m := h.Model
	if m == nil {
		return nil, nil
	}
	sum := sha256.New()
	if err := m.Write(sum); err != nil {
		return nil, err
	}
	return []method.ModelFile{{Party: c.name, SHA256: hex.EncodeToString(sum.Sum(nil)), Private: m.Private, NoFile: undownloadable(spec)}}, nil
}

// writeArtifacts writes the artifacts that later requests and jobs need. These are the model, the
// decisions, the state from which a later job continues, and the state for questions about new rows.
func (c *Coordinator) writeArtifacts(w *course) error {
	j := w.job
	hub := w.hub
	if m := hub.Model; m != nil && c.keepsModel(j, m) {
		if err := c.Artifacts.Write(j.ID, vault.Model, m.Write); err != nil {
			return err
		}
	}
	decided := &method.Outcome{}
	if hub.Outcome != nil {
		decided = hub.Outcome()
	}
	if err := c.Artifacts.Put(j.ID, vault.Decisions, decided.Encode()); err != nil {
		return err
	}
	if l := hub.Later; l != nil && l.Lasts() {
		if err := c.Artifacts.Write(j.ID, vault.Rows, l.Write); err != nil {
			return err
		}
	}
	if hub.Keep == nil || j.Spec.Prediction != job.Open {
		return nil
	}
	kept, err := hub.Keep(method.Closing{Classes: decided.Classes})
	if err != nil || kept.Body == nil {
		return err
	}
	return c.Artifacts.Put(j.ID, vault.Answers, kept.Encode())
}

// keepsModel reports whether the coordinator must keep the model for download or for prediction
// queries.
func (c *Coordinator) keepsModel(j *Job, m *method.ModelWriter) bool {
	switch {
	case c.Own:
		return true
	case undownloadable(j.Spec) != "":
		return false // the model has no file: prediction queries read it from the item vault.Answers
	}
	return !m.Private || j.Spec.Prediction == job.Open
}

// undownloadable explains why a job's model is not a file. It returns "" if the model is a file.
func undownloadable(spec *job.Job) string {
	m, err := method.Of(spec)
	if err != nil {
		return ""
	}
	return m.NoFile(spec)
}

// Outcome returns the decisions of a finished job about its held-out rows.
func (c *Coordinator) Outcome(id job.ID) (*method.Outcome, error) {
	if err := c.checkDone(id); err != nil {
		return nil, err
	}
	return c.readOutcome(id)
}

// checkDone returns an error if a job has no result.
func (c *Coordinator) checkDone(id job.ID) error {
	j, err := c.get(id)
	if err == nil && j.State != overview.Done {
		err = fmt.Errorf("coordinator: job %v is %s and has no result", id, j.State)
	}
	if err != nil {
		return fault.BadInput(err)
	}
	return nil
}

func (c *Coordinator) readOutcome(id job.ID) (*method.Outcome, error) {
	b, err := c.readArtifact(id, vault.Decisions)
	if err != nil {
		return nil, err
	}
	return method.DecodeOutcome(b)
}

// Download returns the model file of a finished job. It refuses a private model, from which every
// party could decode encoded rows.
func (c *Coordinator) Download(id job.ID) ([]byte, error) {
	if err := c.checkDone(id); err != nil {
		return nil, err
	}
	j, err := c.Get(id)
	if err != nil {
		return nil, err
	}
	if what := undownloadable(j.Spec); what != "" {
		return nil, fault.BadInputf("coordinator: the model of job %v %s; where predictions are open, ask a party: mercer predict --home HOME --job %v DATA", id, what, id)
	}
	switch {
	case len(j.Result.Models) == 0:
		return nil, fault.BadInputf("coordinator: job %v has no model", id)
	case j.Result.Models[0].Private:
		return nil, fault.Forbidden(model.ErrPrivate)
	}
	b, err := c.readArtifact(id, vault.Model)
	if err != nil {
		return nil, err
	}
	if _, err := model.Open(bytes.NewReader(b)); errors.Is(err, model.ErrPrivate) {
		return nil, fault.Forbidden(err)
	}
	return b, nil
}

// readArtifact reads an artifact of a finished job.
func (c *Coordinator) readArtifact(id job.ID, item vault.Item) ([]byte, error) {
	b, err := c.Artifacts.Get(id, item)
	if errors.Is(err, vault.ErrNoState) {
		return nil, fault.Public(fault.BadInputf("coordinator: the artifacts of job %v, including its %s, have been erased; submit the job again", id, item))
	}
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	return b, nil
}

// readJobs reads the jobs of an earlier process, and finishes the deletions that the earlier
// process began.
func (c *Coordinator) readJobs() error {
	if err := disk.MakeDirs(c.Jobs); err != nil {
		return err
	}
	if err := c.readGraves(); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.Jobs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, err := job.ParseID(e.Name())
		if err != nil {
			continue // the entry is not a job's folder
		}
		if err := disk.Sweep(c.folder(id)); err != nil {
			return err
		}
		if j := c.readJob(id); j != nil {
			c.jobs[id] = j
			c.order = append(c.order, id)
		}
	}
	slices.SortFunc(c.order, func(a, b job.ID) int { return c.jobs[a].Order - c.jobs[b].Order })
	c.tidy()
	c.nudge()
	return nil
}

// readGraves finishes the deletions that an earlier process began.
func (c *Coordinator) readGraves() error {
	entries, err := os.ReadDir(c.graves())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, err := job.ParseID(e.Name())
		if err != nil {
			continue
		}
		c.deleted[id] = true
		if err := c.removeFolder(id); err != nil {
			return err
		}
	}
	return nil
}

// tidy destroys the remains of ended jobs whose first destruction failed.
func (c *Coordinator) tidy() {
	for _, id := range c.order {
		j := c.jobs[id]
		if j.Residue == "" {
			continue
		}
		err := c.destroy(j, string(j.State))
		if err == nil {
			err = c.setStatus(j, func(s *Status) error { s.Residue = ""; return nil })
		}
		if err != nil {
			c.Logger.Error("part of a job still cannot be destroyed", "job", id.String(), "error", err)
		}
	}
}

// readJob reads the job in a folder, and marks the job as unreadable if the reading fails. It
// returns nil for an interrupted submission, whose id was never returned. A job that this program
// cannot read is set aside, so that the others run.
func (c *Coordinator) readJob(id job.ID) *Job {
	j, err := c.parseJob(id)
	if errors.Is(err, fs.ErrNotExist) && j.State == "" {
		return nil
	}
	if err != nil {
		c.Logger.Error("a job cannot be read and is set aside as it is; read it with the program that wrote it", "job", id.String(), "error", err)
		j.State, j.Failure = overview.Unreadable, &Failure{Code: fault.CodeFailed, Message: "this program cannot read the job: " + err.Error()}
	}
	return j
}

// parseJob reads a job's files. On an error it returns the parts that it could read.
func (c *Coordinator) parseJob(id job.ID) (*Job, error) {
	j := &Job{ID: id, Spec: &job.Job{}}
	file, err := os.ReadFile(c.path(id, statusFile))
	if err != nil {
		return j, err
	}
	var status statusInFile
	err = json.Unmarshal(file, &status)
	j.Status, j.Submitter = status.Status, status.Submitter
	if err != nil {
		return j, err
	}
	spec, err := os.ReadFile(c.path(id, specFile))
	if err != nil {
		return j, err
	}
	read, err := c.Reader.Parse(c.path(id, specFile), spec)
	if err != nil {
		return j, err
	}
	j.Spec = read
	if j.Failure == nil && (j.State == overview.Closing || j.State == overview.Done) {
		_, err = c.readResult(id) // so that a result is known to be readable
	}
	return j, err
}

func (c *Coordinator) readResult(id job.ID) (*method.Result, error) {
	b, err := os.ReadFile(c.path(id, resultFile))
	if err != nil {
		return nil, err
	}
	r := &method.Result{}
	return r, json.Unmarshal(b, r)
}
