// Package study keeps which studies a home's operator has approved, and what the jobs of each study have
// used of its limits.
//
// The folder has the files of package approved and, for each study that jobs have used:
//
//	HASH.used  the study's jobs, and how many numbers the sums of each had
//	used.lock  held while a file is read and then changed
package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/approved"
)

// Studies keeps a home's studies.
type Studies struct {
	approved.Store[*job.Study]
}

// In returns the studies in a folder. The Reader reads their files.
func In(folder string, jobs *job.Reader) Studies {
	return Studies{approved.Store[*job.Study]{Folder: folder, Parse: jobs.ParseStudy, Unknown: job.ErrStudyUnapproved}}
}

// Use is what the accepted jobs of a study have used.
type Use struct {
	// Jobs maps the id of each job to how many numbers its sums had at this home.
	Jobs map[string]int64 `json:"jobs"`
}

// Numbers returns how many numbers the sums of all jobs had.
func (u Use) Numbers() (sum int64) {
	for _, n := range u.Jobs {
		sum += n
	}
	return sum
}

// LimitError reports a job for which a study has no room.
type LimitError struct {
	Key  string // key of the study that leaves no room: "jobs", "numbers" or "until"
	text string
}

func (e *LimitError) Error() string { return e.text }

// admit adds a job, or returns a *LimitError.
func (u *Use) admit(s *job.Study, id string, numbers int64, now time.Time) error {
	refuse := func(key, format string, args ...any) error {
		return &LimitError{key, fmt.Sprintf("study %s has no room for the job, by its key %q: ", s.Name, key) + fmt.Sprintf(format, args...)}
	}
	before, known := u.Jobs[id]
	switch others := u.Numbers() - before; {
	case !known && now.UTC().Format(time.DateOnly) > s.Until:
		return refuse("until", "its last day was %s", s.Until)
	case !known && len(u.Jobs) >= s.Jobs:
		return refuse("jobs", "it allows %d, and as many have been accepted here", s.Jobs)
	case numbers > int64(s.Numbers)-others:
		return refuse("numbers", "it allows %d, earlier jobs had %d, and this one has %d", s.Numbers, others, numbers)
	}
	if u.Jobs == nil {
		u.Jobs = make(map[string]int64)
	}
	u.Jobs[id] = max(numbers, before)
	return nil
}

// Used returns what the jobs of a study have used.
func (s Studies) Used(hash string) (u Use, err error) {
	b, err := os.ReadFile(s.path(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return u, nil
	case err != nil:
		return u, fmt.Errorf("study: %w", err)
	}
	if err := json.Unmarshal(b, &u); err != nil {
		return u, fmt.Errorf("study: %s cannot be read: %w", s.path(hash), err)
	}
	return u, nil
}

// Check returns a *LimitError if the study has no room for a job whose sums together have so many
// numbers. It records nothing.
func (s Studies) Check(of *job.Study, id string, numbers int64, now time.Time) error {
	u, err := s.Used(of.Hash())
	if err != nil {
		return err
	}
	return u.admit(of, id, numbers, now)
}

// Enter records a job durably, and returns a *LimitError if the study has no room for it. A job that is
// recorded already keeps its place.
func (s Studies) Enter(of *job.Study, id string, numbers int64, now time.Time) (err error) {
	if err := disk.MakeDir(s.Folder); err != nil {
		return fmt.Errorf("study: %w", err)
	}
	lock, err := disk.WaitLock(filepath.Join(s.Folder, "used.lock"))
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	u, err := s.Used(of.Hash())
	if err != nil {
		return err
	}
	if err := u.admit(of, id, numbers, now); err != nil {
		return err
	}
	b, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("study: %w", err)
	}
	return disk.Replace(s.path(of.Hash()), b)
}

func (s Studies) path(hash string) string { return filepath.Join(s.Folder, hash+".used") }
