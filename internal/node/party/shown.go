package party

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// shown holds what other goroutines may read of a party's jobs while the goroutine of Run is busy, for
// example because it reads a table.
type shown struct {
	once     sync.Once
	filled   chan struct{} // closed when open is known
	mu       sync.Mutex
	open     []overview.Job
	files    map[string]string       // job files of the jobs that await approval, by id
	retained map[job.ID]overview.Job // descriptions that Jobs has read from the disk
}

// showJobs makes the state of the open jobs visible to other goroutines.
func (p *Party) showJobs() {
	open := make([]overview.Job, 0, len(p.jobs))
	for _, w := range p.jobs {
		open = append(open, w.described())
	}
	files := make(map[string]string)
	for id, a := range p.awaits {
		if !a.over {
			open = append(open, a.described())
			files[id.String()] = a.file
		}
	}
	p.shown.mu.Lock()
	defer p.shown.mu.Unlock()
	p.shown.open, p.shown.files = open, files
	p.shown.once.Do(func() { close(p.shown.filled) })
}

// described returns the overview's part of an open job.
func (w *work) described() overview.Job {
	j := overview.Job{ID: w.id.String(), Name: w.job.Name, State: overview.Open, Parties: w.parties()}
	if n := len(w.sessions); n > 0 { // none yet, right after a restart
		last := w.sessions[n-1]
		j.Started, j.Stage, j.StageSince = w.since().UTC(), last.step, last.Created().UTC()
	}
	return j
}

// Jobs lists the jobs whose state this party holds: open jobs first, then by time. Of a retained job from
// an earlier version it knows only the id and the time. Jobs waits until Run has read the open jobs.
func (p *Party) Jobs() ([]overview.Job, error) {
	select {
	case <-p.shown.filled:
	case <-p.over:
		return nil, errStopped
	}
	kept, err := p.Retained.Jobs()
	slices.SortFunc(kept, func(a, b vault.Retained) int {
		return cmp.Or(a.Since.Compare(b.Since), slices.Compare(a.Job[:], b.Job[:]))
	})
	list, read := p.shown.get()
	slices.SortFunc(list, func(a, b overview.Job) int { return a.Started.Compare(b.Started) })
	known := make(map[job.ID]overview.Job, len(kept))
	for _, k := range kept {
		if slices.ContainsFunc(list, func(j overview.Job) bool { return j.ID == k.Job.String() }) {
			continue // the job is open
		}
		j, found := read[k.Job]
		if !found {
			j = p.description(k)
		}
		known[k.Job] = j
		list = append(list, j)
	}
	p.shown.remember(known)
	return list, err
}

// AwaitingFile returns the job file of a job that awaits approval, or "".
func (p *Party) AwaitingFile(id string) string {
	p.shown.mu.Lock()
	defer p.shown.mu.Unlock()
	return p.shown.files[id]
}

// get returns the open jobs, and the descriptions that were read from the disk before.
func (s *shown) get() ([]overview.Job, map[job.ID]overview.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.open), s.retained
}

// remember keeps the descriptions of retained jobs for the next call. The map must not change any more.
func (s *shown) remember(retained map[job.ID]overview.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retained = retained
}

// maxDescription bounds the size of a job's description in bytes.
const maxDescription = 1 << 20

// description reads the description of a job that retained something here.
func (p *Party) description(k vault.Retained) overview.Job {
	unknown := overview.Job{ID: k.Job.String(), State: overview.Retained, Ended: k.Since.UTC(), Parties: []string{}}
	if p.Descriptions == nil {
		return unknown
	}
	b, err := p.Descriptions.Get(k.Job)
	var j overview.Job
	if err == nil && len(b) <= maxDescription {
		err = json.Unmarshal(b, &j)
	}
	switch {
	case errors.Is(err, vault.ErrNoState): // an earlier version kept no description
	case err != nil:
		p.Logger.Warn("a retained job's description cannot be read", "job", k.Job.String(), "error", err)
	case j.ID == unknown.ID:
		return j
	}
	return unknown
}

// keepDescription stores what lists show of a job that has retained something here.
func (p *Party) keepDescription(w *work) {
	kept, err := p.Retained.Jobs()
	if err == nil && (p.Descriptions == nil || !slices.ContainsFunc(kept, func(k vault.Retained) bool { return k.Job == w.id })) {
		return
	}
	j := w.described()
	j.State, j.Stage, j.StageSince, j.Ended = overview.Retained, "", time.Time{}, overview.Now()
	b, wrong := json.Marshal(j)
	if err = errors.Join(err, wrong); err == nil {
		err = p.Descriptions.Put(w.id, b)
	}
	if err != nil {
		p.Logger.Error("could not keep the description of a job", "job", w.id.String(), "error", err)
	}
}
