package daemon

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// weekly is the value of the setting "editions" that makes the daemon freeze a table every week.
const weekly = "weekly"

// freezer freezes tables every week. If an edition would single out too few
// people, it tries again every day.
type freezer struct {
	Home
	config func() *Config
	reader *job.Reader
	log    *slog.Logger
	tried  map[approved.Approval]string // day of the last attempt to freeze each table for each dictionary
}

// run freezes the due tables at the start and then every hour, until ctx ends.
func (f freezer) run(ctx context.Context) {
	often := time.NewTicker(time.Hour)
	defer often.Stop()
	for {
		f.freeze(ctx, time.Now().UTC())
		select {
		case <-ctx.Done():
			return
		case <-often.C:
		}
	}
}

// freeze makes the editions that are due today.
func (f freezer) freeze(ctx context.Context, now time.Time) {
	approvals, err := f.Dictionaries().List()
	if err != nil {
		f.log.Error("tables could not be frozen", "error", err)
		return
	}
	for table := range f.config().Data { // tables of plain numbers need no approval
		numbers := job.OfNumbers()
		approvals = append(approvals, approved.Approval{Name: numbers.Name, Hash: numbers.Hash(), Table: table})
	}
	today := now.Format(time.DateOnly)
	for _, o := range approvals {
		if f.config().Data[o.Table].Editions != weekly || f.tried[o] == today || ctx.Err() != nil {
			continue
		}
		due, err := f.isDue(o, now)
		if err == nil && due {
			f.tried[o] = today
			err = f.next(ctx, o)
		}
		if err != nil && ctx.Err() == nil {
			f.log.Error("a table could not be frozen", "table", o.Table, "dictionary", o.Name, "error", err)
		}
	}
}

// isDue reports whether the newest edition is at least a week old. It returns false if there is no
// edition; then the operator must make the next one.
func (f freezer) isDue(o approved.Approval, now time.Time) (bool, error) {
	newest, err := f.Editions().Newest(o.Table, o.Hash)
	if errors.Is(err, edition.ErrNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	day, err := time.Parse(time.DateOnly, newest.Day)
	return !now.Before(day.AddDate(0, 0, 7)), fault.Disk.Of(err)
}

func (f freezer) next(ctx context.Context, o approved.Approval) error {
	d, err := f.dictionary(o.Name, o.Hash)
	if err != nil {
		return err
	}
	made, err := f.Freeze(ctx, f.reader, d, o.Table)
	var few *edition.LackError
	switch {
	case errors.As(err, &few):
		f.log.Info("a table is not frozen again until more people come, go or change", "table", o.Table, "dictionary", o.Name, "lack", few.Lack)
		return nil
	case err != nil:
		return err
	}
	f.log.Info("froze a table", "table", o.Table, "dictionary", o.Name, "edition", made.Number, "training", made.Training, "held_out", made.HeldOut, "unlabelled", made.Unlabelled)
	return nil
}
