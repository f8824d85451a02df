package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/session"
)

// Forget destroys what a finished job left for predictions, here and at every party:
// nobody can ask its model anything afterwards. It returns the parties that have
// not confirmed; the broker tells them when they come back.
func (c *Coordinator) Forget(ctx context.Context, id session.JobID) (silent []string, err error) {
	if err := c.done(id); err != nil {
		return nil, err
	}
	j, err := c.Get(id)
	if err != nil {
		return nil, err
	}
	if err := disk.Erase(c.path(id, answersFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	forget := session.Forget{Job: id}
	return c.hearAll(ctx, &j, word{session.KindForget, forget.Encode(), session.KindForgotten})
}
