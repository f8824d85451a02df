package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/crowd"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Build names this program, whose journals no other program reads.
func Build() (string, error) { return build() }

// SumsModelPath returns the file in which the server of a crowd leaves the model of a job.
func (h Home) SumsModelPath(j *job.Job) string {
	if j.Traits().Rated {
		return h.path("items.kernel")
	}
	return h.path("model")
}

// OpenEnrolment reads a file that an authority has signed.
func OpenEnrolment(path, authority string, o Options) (*crowd.Enrolment, error) {
	key, err := ParseKey(authority)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.BadInputf("the enrolment cannot be read: %w", err)
	}
	return crowd.Open(b, key, o.Reader)
}

// RunSums serves the devices of a crowd until their job is done, or ctx ends, without a result. A
// home whose job is done gives its result again.
func (h Home) RunSums(ctx context.Context, e *crowd.Enrolment, d Doors, o Options) (r *method.Result, err error) {
	if r, err := h.summed(); r != nil || err != nil {
		return r, err
	}
	b, err := build()
	if err != nil {
		return nil, err
	}
	kept, err := vault.OpenDisk(h.path("vault"), b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	s, err := crowd.New(crowd.Config{Enrolment: e, Vault: kept, Model: h.SumsModelPath(e.Job), Progress: func(protocol.Progress) {}, Logger: o.Logger})
	if err != nil {
		return nil, h.otherBuild(err)
	}
	err = d.serve(ctx, o, s.Handler(), collectors(nil), func(ctx context.Context) error {
		done, err := s.Run(ctx)
		if err != nil {
			return err
		}
		r = done
		return errors.Join(h.keepSummed(done), s.Close())
	})
	return r, err
}

func (h Home) keepSummed(r *method.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.Replace(h.path("result.json"), b)
}

// summed returns the result of a job that is done, nil where there is none.
func (h Home) summed() (*method.Result, error) {
	b, err := os.ReadFile(h.path("result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r := &method.Result{}
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	return r, nil
}
