package devices

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Config holds the settings and resources of a server. Every field is required.
type Config struct {
	Enrolment *Enrolment
	Vault     vault.Vault // vault that stores only this job
	Model     string      // path of the model's file, which the server writes at the end
	Progress  func(protocol.Progress)
	Logger    *slog.Logger
}

// Service is the server of one job. Its handler serves devices while Run runs.
type Service struct {
	Config
	plan    []method.Step
	passing bool // true if the job goes on with devices that have missed sessions (see [method.DevicesOf])
	hub     *method.CoordinatorSide
	kept    sessions
	first   int // index of the step at which this process begins
	desks   desks

	complaints tally.Tally // counts complaints about devices

	mu      sync.Mutex
	begun   []*stage // the steps that have begun, in order
	failure error
	changed chan struct{} // closed when a step begins or the job fails
}

// stage is a step that has begun. Its box is nil if the step has no session for devices, if the next step
// has begun, or if an earlier process ran the step.
type stage struct {
	announced []byte
	box       *box
}

// New returns the server of a job, with the sessions that an earlier process left. Run starts it.
func New(c Config) (*Service, error) {
	s := &Service{Config: c, changed: make(chan struct{})}
	m, plan, passing, err := c.Enrolment.plan()
	if err != nil {
		return nil, err
	}
	s.plan, s.passing = plan, passing
	if s.hub, err = m.Server(c.Enrolment.instance()); err != nil {
		return nil, err
	}
	open, lost, err := c.Vault.Open()
	if err != nil {
		return nil, err
	}
	for _, l := range lost {
		return nil, fmt.Errorf("devices: the state of session %v is lost, so no server can finish this job, because devices contribute each vector only once: %w", l.ID, l.Err)
	}
	s.kept = reopened(open)
	if s.first, err = s.resume(); err != nil {
		return nil, err
	}
	for range s.first {
		s.begun = append(s.begun, &stage{})
	}
	return s, nil
}

// Run runs the job to its end, or until ctx ends or a step fails. After the end of ctx another process
// on the same vault can continue the job.
func (s *Service) Run(ctx context.Context) (*method.Result, error) {
	for i := s.first; i < len(s.plan); i++ {
		step := s.plan[i]
		if err := s.step(ctx, i, step); err != nil {
			if !errors.Is(err, driver.ErrInterrupted) && ctx.Err() == nil {
				s.fail(err)
			}
			return nil, fmt.Errorf("devices: step %s: %w", step.Name, err)
		}
	}
	result, err := s.hub.Result()
	if err != nil {
		return nil, err
	}
	if m := s.hub.Model; m != nil {
		if err := disk.ReplaceBy(s.Model, m.Write); err != nil {
			return nil, err
		}
	}
	if err := s.linger(ctx); err != nil {
		return nil, err
	}
	return result, ctx.Err()
}

func (s *Service) step(ctx context.Context, i int, step method.Step) error {
	if step.Session == nil {
		s.begin(&stage{})
		return s.hub.Compute(ctx, i, nil)
	}
	announced, err := s.hub.Announce(i)
	if err != nil {
		return err
	}
	next, err := step.Session.After(s.hub.Public(), announced)
	if err != nil {
		return err
	}
	opened, err := protocol.NewSession(s.Enrolment.descriptor(next, i))
	if err != nil {
		return err
	}
	return s.conduct(ctx, i, next, opened, announced)
}

// descriptor returns the description of the session in a step of the job.
func (e *Enrolment) descriptor(next *method.Session, step int) protocol.Descriptor {
	return next.Descriptor(e.ID(), step, e.sum, 1)
}

// conduct runs the server's part of one session to its end.
func (s *Service) conduct(ctx context.Context, i int, next *method.Session, opened *protocol.Session, announced []byte) error {
	step := s.plan[i].Name
	n, err := s.note(i)
	if err != nil {
		return err
	}
	kept, err := s.kept.openOrCreate(s.Vault, opened.ID(), n.encode())
	if err != nil {
		return err
	}
	run, err := s.hub.Build(i, method.Setup{
		Setup: protocol.Setup{Session: opened, Self: Server, Seed: kept.Seed()}, Announced: announced, Key: s.Enrolment.Key,
	})
	if err != nil {
		return err
	}
	b := newBox(opened, kept)
	if err := b.recall(); err != nil {
		return err
	}
	s.begin(&stage{announced, b})
	if n.resumes {
		if err := s.kept.destroyAllBut(opened.ID(), endedWell); err != nil {
			return err
		}
	}
	_, err = driver.Run(ctx, driver.Config{
		Session: opened, Machine: run.Machine, InputHash: run.InputHash, Records: b.Records(), Log: b, Ledger: s.Vault, Mail: b,
		Timeout:  func(t protocol.Timer) time.Duration { return s.timeout(next, b, t) },
		Progress: s.Progress, Logger: s.Logger,
	})
	if err == nil {
		close(b.done)
		err = run.Finish()
	}
	if err != nil {
		return err
	}
	end := method.End{Session: opened.ID(), Stayed: opened.With(protocol.RoleParty), Sent: b.toServer.Load(), Received: b.fromServer.Load()}
	if run.Stayed != nil {
		end.Stayed = run.Stayed()
	}
	b.recordStayed(end.Stayed)
	s.Logger.Info("a session is over", "step", step, "devices", len(opened.Members)-1, "stayed", len(end.Stayed), "bytes to the server", end.Sent, "bytes from it", end.Received)
	s.hub.Ended(i, end)
	return nil
}

// recordStayed stores the names of the devices that finished the session.
func (b *box) recordStayed(stayed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stayed = stayed
}

// timeout returns the duration of a timer. Until the first device has sent a message, the duration
// is at least the time that devices have to join a job.
func (s *Service) timeout(next *method.Session, b *box, t protocol.Timer) time.Duration {
	limits := s.Enrolment.Job.Timeout
	if b.toServer.Load() == 0 {
		return max(limits.Join, limits.Round)
	}
	return next.Timeout(t, limits.Round)
}

// begin makes a step visible to devices, and ends the step before.
func (s *Service) begin(one *stage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.begun); n > 0 && s.begun[n-1].box != nil {
		close(s.begun[n-1].box.over)
		s.begun[n-1].box = nil // no device can join the earlier step any more
		if s.passing {
			s.begun[n-1].announced = nil
		}
	}
	s.begun = append(s.begun, one)
	s.wake()
}

func (s *Service) fail(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = why
	s.wake()
}

func (s *Service) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Close destroys the journals of an ended job whose result is stored.
func (s *Service) Close() error { return s.kept.destroy(endedWell) }

// recall restores the list of devices that said farewell before a restart.
func (b *box) recall() error {
	kept, err := b.Get(vault.Report)
	if err != nil || kept == nil {
		return err
	}
	names, err := decodeNames(kept)
	for _, name := range names {
		b.finished[name] = true
	}
	return err
}

// maxSnapshot bounds the bytes of the snapshot that a server stores beside a session.
const maxSnapshot = 1 << 30

// note records the state of a server before a step. If resumes is true, the snapshot is all that a new
// process needs to resume, so that the sessions of earlier steps can be erased.
type note struct {
	step     int
	resumes  bool
	snapshot []byte
}

func (n note) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(n.step))
	w.Bool(n.resumes)
	w.Bytes32(n.snapshot)
	return w.Bytes()
}

// decodeNote decodes a note that note.encode has encoded.
func decodeNote(b []byte) (note, error) {
	r := wire.NewReader(b)
	n := note{step: int(r.Uint32()), resumes: r.Bool(), snapshot: r.Bytes32(maxSnapshot)}
	return n, r.Close("devices: note of a session")
}

// note returns the server's state before a step, with a snapshot if the method has snapshots.
func (s *Service) note(step int) (note, error) {
	n := note{step: step}
	if s.hub.Snapshot != nil {
		var err error
		n.resumes = true
		if n.snapshot, err = s.hub.Snapshot(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// resume restores the server's state from the last session before a restart. It erases the other
// sessions and returns the step of the last one. If the method has no snapshots, or there is no session, it
// does nothing and returns 0.
func (s *Service) resume() (int, error) {
	if s.hub.Restore == nil {
		return 0, nil
	}
	var last note
	var of vault.Session
	for _, k := range s.kept {
		b, err := k.Get(vault.Proposal)
		if err != nil {
			return 0, err
		}
		n, err := decodeNote(b)
		if err != nil {
			return 0, err
		}
		if of == nil || n.step > last.step {
			last, of = n, k
		}
	}
	if of == nil {
		return 0, nil
	}
	if last.step >= len(s.plan) || !last.resumes {
		return 0, fmt.Errorf("devices: the last stored session is of step %d and cannot resume the job, which has %d steps", last.step, len(s.plan))
	}
	if err := s.hub.Restore(last.snapshot); err != nil {
		return 0, err
	}
	return last.step, s.kept.destroyAllBut(of.ID(), endedWell)
}
