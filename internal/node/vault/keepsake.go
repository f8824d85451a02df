package vault

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
)

// ErrNoKeepsake reports a job that left nothing.
var ErrNoKeepsake = errors.New("vault: this job left nothing here")

// Left is a job that has left something, and since when.
type Left struct {
	Job   job.ID
	Since time.Time
}

// Keepsake is the part of the estate that a party's predictions need.
func (e *Estate) Keepsake() *DiskKeepsake { return &DiskKeepsake{e} }

// DiskKeepsake keeps on disk what jobs leave at a party for predictions.
type DiskKeepsake struct{ estate *Estate }

// Put seals a secret and makes it durable.
func (k *DiskKeepsake) Put(id job.ID, secret []byte) error {
	return k.estate.Put(id, Predictor, secret)
}

// Get opens a job's secret. Without one it gives [ErrNoKeepsake].
func (k *DiskKeepsake) Get(id job.ID) ([]byte, error) { return k.estate.Get(id, Predictor) }

// Erase erases everything that the job left here, and returns what that was.
func (k *DiskKeepsake) Erase(id job.ID) ([]Item, error) { return k.estate.Erase(id) }

// Jobs lists the jobs that have left something.
func (k *DiskKeepsake) Jobs() ([]Left, error) { return k.estate.Jobs() }

// MemoryKeepsake holds the items that jobs leave for predictions, until the process
// ends.
type MemoryKeepsake struct {
	mu   sync.Mutex
	kept map[job.ID][]byte
}

// NewMemoryKeepsake returns an empty one.
func NewMemoryKeepsake() *MemoryKeepsake {
	return &MemoryKeepsake{kept: make(map[job.ID][]byte)}
}

// Put keeps a secret.
func (k *MemoryKeepsake) Put(id job.ID, secret []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept[id])
	k.kept[id] = bytes.Clone(secret)
	return nil
}

// Get returns a copy of a job's secret, or [ErrNoKeepsake].
func (k *MemoryKeepsake) Get(id job.ID) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret, ok := k.kept[id]; ok {
		return bytes.Clone(secret), nil // Erase overwrites its own
	}
	return nil, ErrNoKeepsake
}

// Erase forgets a job's secret.
func (k *MemoryKeepsake) Erase(id job.ID) ([]Item, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	secret, some := k.kept[id]
	clear(secret)
	delete(k.kept, id)
	if !some {
		return nil, nil
	}
	return []Item{Predictor}, nil
}

// Jobs lists none: a process that ends forgets them all.
func (k *MemoryKeepsake) Jobs() ([]Left, error) { return nil, nil }
