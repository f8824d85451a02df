// Package consent keeps an operator's decisions about single jobs, where a policy says "approve: each".
//
// A decision is about one job and the text of its file. It ends when the party has accepted or refused the
// job, when the coordinator closes the job, or after 30 days.
package consent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// Decisions is the path of the folder with a home's decisions. The folder need not exist.
type Decisions string

// Decision is an operator's answer to a job.
type Decision struct {
	Spec     string        `json:"specification"` // SHA-256 of the job file in its canonical form
	Job      string        `json:"job"`           // id of the job
	Name     string        `json:"name"`
	Approved bool          `json:"approved"`
	Reason   string        `json:"reason,omitempty"` // reason of a rejection; the coordinator reads it
	By       access.Person `json:"by"`               // who decided; zero in a decision of an earlier version
	Time     time.Time     `json:"time"`
}

// kept is the time after which a decision ends.
const kept = 30 * 24 * time.Hour

// Put stores a decision durably. It replaces an earlier one about the same job.
func (d Decisions) Put(one Decision) error {
	b, err := json.Marshal(one)
	if err == nil {
		err = disk.MakeDir(string(d))
	}
	if err == nil {
		err = disk.Replace(d.path(one.Job), b)
	}
	if err != nil {
		return fmt.Errorf("consent: %w", err)
	}
	return nil
}

// Find returns the decision about the job with this id and with the file of this hash; ok is false if there is none.
func (d Decisions) Find(job, spec string) (one Decision, ok bool, err error) {
	b, err := os.ReadFile(d.path(job))
	if errors.Is(err, fs.ErrNotExist) {
		return one, false, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &one)
	}
	if err != nil {
		return Decision{}, false, fmt.Errorf("consent: the decision in %s cannot be read: %w", d.path(job), err)
	}
	return one, one.Job == job && one.Spec == spec && time.Since(one.Time) < kept, nil
}

// Remove ends the decision about a job.
func (d Decisions) Remove(job string) error {
	if err := os.Remove(d.path(job)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("consent: %w", err)
	}
	return nil
}

func (d Decisions) path(job string) string { return filepath.Join(string(d), job) }
