package simulate

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/protocol"
)

// A daemon that fails, here because its folder is gone, ends the simulation; no other
// member waits for it.
func TestADaemonThatFailsEndsTheSimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	j := jobtest.Parse(t, digits)
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("digits") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	dir := t.TempDir()
	var once sync.Once
	_, _, err = Run(ctx, Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: dir, Seed: coordinator.RandomSeed,
		Usage: func() (float64, uint64) { return 0, 0 }, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Progress: func(protocol.Progress) {
			once.Do(func() {
				if err := os.RemoveAll(filepath.Join(dir, "jobs")); err != nil {
					t.Error(err)
				}
			})
		},
	})
	if err == nil || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, context %v; want the coordinator's failure at once", err, ctx.Err())
	}
}
