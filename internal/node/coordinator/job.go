package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
)

// Job is a submitted job, or a prediction query that the coordinator runs like a job.
type Job struct {
	ID      job.ID
	Spec    *job.Job
	Attempt uint32
	// Submitter is who submitted the job. It never changes. It is zero in a job of an earlier build.
	Submitter access.Person
	Status
	// Part is the last progress of a part of the job's present or last stage, or zero. It is not kept on disk.
	Part protocol.Progress
	// Waiting holds the parties for whose consent a session of the running job waits. It is nil unless the
	// session waits, and is not kept on disk.
	Waiting *overview.Waiting
	// Result is the result of a job that has one. It stays on disk, and only [Coordinator.Get] and
	// [Coordinator.Wait] read it.
	Result *method.Result
	// inquiry is the prediction query that runs as this Job; it is nil for a submitted job.
	inquiry *control.Inquiry
}

// label returns the label for the seeds of this job's sessions. A job and a question that several parties
// help to answer get different labels. A question that the coordinator alone answers has the label of the job.
func (j *Job) label() string {
	if j.inquiry != nil {
		return j.Spec.Name + "/" + j.ID.String()
	}
	return j.Spec.Name
}

// retryAdvice returns what the user should do after a failure: ask again, or submit the job again.
func (j *Job) retryAdvice() string {
	if j.inquiry != nil {
		return "ask again"
	}
	return "submit the job again"
}

// Status holds the changing part of a job. Each change replaces the whole Status. So a reader must
// hold the coordinator's lock or have a copy.
type Status struct {
	Order   int            `json:"order"` // position of the job in the order of submission
	State   overview.State `json:"state"`
	Stage   string         `json:"stage,omitempty"`
	Failure *Failure       `json:"error,omitempty"`
	// Rejection is nil unless the operator of a party has rejected the job.
	Rejection *Rejection `json:"rejection,omitempty"`
	// Forgotten is true if the coordinator has erased the job's artifacts. Silent names the parties
	// that have not confirmed that their artifacts are erased.
	Forgotten bool     `json:"forgotten,omitempty"`
	Silent    []string `json:"silent,omitempty"`
	// Submitted is the time of the submission. Started is the time at which the first stage began, and
	// StageSince the time at which the present stage began. Started is zero before the first stage, and
	// StageSince while no stage runs. All three are zero in a job of an earlier build.
	Submitted  time.Time `json:"submitted,omitzero"`
	Started    time.Time `json:"started,omitzero"`
	StageSince time.Time `json:"stage_since,omitzero"`
	// Ended is the time at which the job was closed, or was aborted in the queue. The job's retention time counts
	// from then.
	Ended time.Time `json:"ended,omitzero"`
	// Residue is the error that prevented the complete destruction of the job's state, or "".
	Residue string `json:"residue,omitempty"`
}

// Failure explains why a job failed.
type Failure struct {
	Code    fault.Code `json:"exit_code"`
	Blamed  string     `json:"blamed,omitempty"`
	Message string     `json:"message"`
	// Told is the text about the failure that the parties receive.
	Told string `json:"told,omitempty"`
}

// Rejection says whose operator has rejected a job, and why. The reason is free text, so no overview has it.
type Rejection struct {
	Party  string `json:"party"`
	Reason string `json:"reason"` // the operator's words: one printable line of bounded length
}

// Over reports whether the job has reached its final state.
func (s Status) Over() bool { return s.State.Over() }

// These are the files in a job's folder.
const (
	specFile   = "job.yaml"
	statusFile = "status.json"
	resultFile = "result.json"
)

// ErrNoJob reports that no job has the given id.
var ErrNoJob = errors.New("mercer job list shows no such job")

// Submit queues a job for the parties that it names, or for all parties of the roster. If the job
// needs a fit that no job makes or has made, Submit queues the fit first. A file that is submitted twice makes two
// jobs. The audit record names the submitter before the job is queued.
func (c *Coordinator) Submit(spec *job.Job, by access.Person) (job.ID, error) {
	if err := c.admit(spec); err != nil {
		return job.ID{}, fault.BadInput(err)
	}
	c.submitting.Lock()
	defer c.submitting.Unlock()
	if fit := c.missingFit(spec); fit != nil {
		if id, err := c.enqueue(fit, by); err != nil {
			return id, err
		}
	}
	return c.enqueue(spec, by)
}

// enqueue stores a job on disk and adds it to the end of the queue.
func (c *Coordinator) enqueue(spec *job.Job, by access.Person) (job.ID, error) {
	j := &Job{ID: c.newID(spec), Spec: spec, Submitter: by, Status: Status{State: overview.Queued, Submitted: overview.Now()}}
	j.Order = c.nextOrder()
	hash := spec.Hash()
	if err := c.Audit.Append(audit.Event{Kind: audit.Submitted, Job: j.ID.String(), Name: spec.Name, Spec: hex.EncodeToString(hash[:]), Parties: spec.Parties(), By: &by}); err != nil {
		return j.ID, err
	}
	if err := disk.MakeDir(c.folder(j.ID)); err != nil {
		return j.ID, fmt.Errorf("coordinator: %w", err)
	}
	// The status is written last, because a folder without a status does not count as a submitted
	// job.
	err := disk.Replace(c.path(j.ID, specFile), spec.Encode())
	if err == nil {
		err = c.write(j)
	}
	if err != nil {
		return j.ID, errors.Join(fmt.Errorf("coordinator: %w", err), os.RemoveAll(c.folder(j.ID)))
	}
	c.mu.Lock()
	c.jobs[j.ID] = j
	c.order = append(c.order, j.ID)
	c.mu.Unlock()
	c.recordSubmitted(j)
	c.nudge()
	return j.ID, nil
}

// nextOrder returns a number greater than the number of every earlier job, deleted jobs included.
func (c *Coordinator) nextOrder() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := len(c.order) + len(c.deleted)
	for _, j := range c.jobs {
		next = max(next, j.Order+1)
	}
	return next
}

// admit fills in the defaults of a submitted job and checks the job.
func (c *Coordinator) admit(spec *job.Job) error {
	if err := Complete(spec, c.roster().Parties()); err != nil {
		return err
	}
	if err := spec.Deployable(); err != nil && !c.Own {
		return err
	}
	m, err := method.Of(spec)
	if err == nil {
		_, err = m.Plan(c.instance(job.ID{}, spec)) // the plan does not depend on the id, which the job does not have yet
	}
	return err
}

// Complete fills in the parties of the roster if a submitted job names none. It refuses a party that
// is not a member, and a job that names its own sources.
func Complete(spec *job.Job, parties []string) error {
	if spec.Data.Sources != nil {
		return errors.New("coordinator: the job has the setting \"sources\", which only mercer simulate accepts; a deployed job must name one \"source\", which each party looks up in its own catalogue")
	}
	if len(spec.Parties()) == 0 {
		by := job.Rows
		if spec.Data.Partition.By == job.Devices {
			by = job.Devices
		}
		spec.Data.Partition = job.Partition{By: by, Parties: parties}
	}
	for _, name := range spec.Parties() {
		if !slices.Contains(parties, name) {
			return fmt.Errorf("party %q is not in the roster; the roster has %s", name, strings.Join(parties, ", "))
		}
	}
	return nil
}

func (c *Coordinator) instance(id job.ID, spec *job.Job) method.Instance {
	return method.Instance{Job: spec, ID: id, Coordinator: c.name, Parties: spec.Parties(), Workers: c.turns.Of(id)}
}

// newID returns a new id for a submitted job. Config.Seed draws it, so each id is new unless the
// seeds are predictable, as in tests.
func (c *Coordinator) newID(spec *job.Job) job.ID {
	seed := c.Seed(fmt.Sprintf("job/%s/%d", spec.Name, c.nextOrder()))
	return job.ID(seed[:16])
}

// RandomSeed returns a random seed. It ignores the label.
func RandomSeed(string) [32]byte {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		panic(err) // crypto/rand never returns an error
	}
	return seed
}

// Get returns a copy of a job with its present status and its result.
func (c *Coordinator) Get(id job.ID) (Job, error) {
	j, err := c.get(id)
	if err != nil || j.Failure != nil || j.State != overview.Closing && j.State != overview.Done {
		return j, err
	}
	if j.Result, err = c.readResult(id); err != nil {
		if _, gone := c.get(id); gone != nil { // the job was deleted meanwhile
			return Job{}, gone
		}
		return j, fmt.Errorf("coordinator: the result of job %v cannot be read: %w", id, err)
	}
	return j, nil
}

// get returns a copy of a job with its present status, without its result.
func (c *Coordinator) get(id job.ID) (Job, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j, ok := c.jobs[id]
	if !ok {
		return Job{}, fmt.Errorf("coordinator: %w: %v", ErrNoJob, id)
	}
	return *j, nil
}

// List returns all jobs in the order of submission, without their results.
func (c *Coordinator) List() []Job {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]Job, 0, len(c.order))
	for _, id := range c.order {
		list = append(list, *c.jobs[id])
	}
	return list
}

// Wait waits until a job has ended, and returns the job.
func (c *Coordinator) Wait(ctx context.Context, id job.ID) (Job, error) {
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		j, err := c.get(id)
		if err != nil || j.Over() {
			return c.Get(id)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return j, ctx.Err()
		}
	}
}

// setStatus changes a job's status, first on disk and then in memory. If change returns an error,
// the status stays.
func (c *Coordinator) setStatus(j *Job, change func(*Status) error) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.mu.Lock()
	next := *j
	c.mu.Unlock()
	if err := change(&next.Status); err != nil {
		return err
	}
	if err := c.write(&next); err != nil {
		return fmt.Errorf("coordinator: %w: %w", driver.ErrInterrupted, err)
	}
	// The event is recorded first, so that whoever waits for the change finds the event.
	c.recordChange(&next, &j.Status)
	c.mu.Lock()
	j.Status = next.Status
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	return nil
}

// statusInFile is the content of a job's status.json.
type statusInFile struct {
	Status
	Submitter access.Person `json:"submitter,omitzero"`
}

func (c *Coordinator) write(j *Job) error {
	data, err := json.MarshalIndent(statusInFile{j.Status, j.Submitter}, "", "  ")
	if err != nil {
		return err
	}
	return disk.Replace(c.path(j.ID, statusFile), data)
}

func (c *Coordinator) nudge() {
	select {
	case c.queue <- struct{}{}:
	default:
	}
}

// graves returns the path of the folder that keeps the ids of deleted jobs.
func (c *Coordinator) graves() string { return filepath.Join(c.Jobs, "deleted") }

func (c *Coordinator) folder(id job.ID) string { return filepath.Join(c.Jobs, id.String()) }

func (c *Coordinator) path(id job.ID, file string) string {
	return filepath.Join(c.folder(id), file)
}

// admitHoldings answers a party that has sent the list of jobs whose state it holds. It handles one
// such message of a party at a time, and none while it tells the party the head of its audit record. It drops
// the others, since the party asks again.
func (c *Coordinator) admitHoldings(ctx context.Context, in driver.Inbound, run func(func())) {
	name := in.Message.Sender
	c.acknowledge(in)
	if len(in.Message.Body) > maxControlBytes || !c.beginNotice(name) {
		return
	}
	run(func() {
		defer c.endNotice(name)
		held, err := control.DecodeHoldings(in.Message.Body)
		if err != nil {
			c.complain("a list of jobs that cannot be read", name, "error", err)
			return
		}
		for _, h := range held {
			if err := c.tellState(ctx, name, h); err != nil {
				c.Logger.Warn("could not send a party the state of a job", "party", name, "job", h.Job.String(), "error", err)
				return
			}
		}
	})
}

func (c *Coordinator) beginNotice(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.notices[name] {
		return false
	}
	c.notices[name] = true
	return true
}

func (c *Coordinator) endNotice(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.notices, name)
}

// tellState tells a party again how a job ended, because the party still has state of the job. A
// job that has not ended needs no message.
func (c *Coordinator) tellState(ctx context.Context, party string, h control.Holding) error {
	closing, forget, err := c.dueMessage(party, h)
	switch {
	case err != nil:
		return err
	case closing != nil:
		return c.router.Tell(ctx, party, control.Topic(h.Job), control.KindClosing, closing.Encode())
	case forget:
		return c.router.Tell(ctx, party, control.Topic(h.Job), control.KindForget, (&control.Forget{Job: h.Job}).Encode())
	}
	return nil
}

// dueMessage returns the message that a party must receive about a job. The message is the job's
// closing, or the request to erase the job. It returns neither if the job needs no message.
func (c *Coordinator) dueMessage(party string, h control.Holding) (closing *control.Closing, forget bool, err error) {
	c.mu.Lock()
	known, deleted, answering := c.jobs[h.Job], c.deleted[h.Job], c.questions.isAnswering(h.Job)
	var j Job
	if known != nil {
		j = *known
	}
	c.mu.Unlock()
	switch {
	case known == nil && h.Open && !answering:
		// The id may be of a prediction query, of a deleted job, or of a job that was lost with a
		// disk.
		return &control.Closing{Job: h.Job, Outcome: "the coordinator does not run this job any more"}, false, nil
	case known == nil:
		return nil, deleted && !h.Open, nil
	case j.State == overview.Unreadable || !j.Over() || !slices.Contains(j.Spec.Parties(), party):
		return nil, false, nil
	case h.Open:
		closing, err = c.closing(&j)
		return closing, false, err
	}
	return nil, j.Forgotten, nil
}
