package vault

import (
	"bytes"
	"crypto/hpke"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/session"
)

// ErrNoKeepsake is what a job gives that left nothing.
var ErrNoKeepsake = errors.New("vault: this job left nothing here")

// MemoryKeepsake holds what jobs leave for predictions, until the process
// ends.
type MemoryKeepsake struct {
	mu   sync.Mutex
	kept map[session.JobID][]byte
}

// NewMemoryKeepsake returns an empty one.
func NewMemoryKeepsake() *MemoryKeepsake {
	return &MemoryKeepsake{kept: make(map[session.JobID][]byte)}
}

// Put keeps a secret.
func (k *MemoryKeepsake) Put(id session.JobID, secret []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept[id])
	k.kept[id] = bytes.Clone(secret)
	return nil
}

// Get returns a copy of a job's secret, or [ErrNoKeepsake].
func (k *MemoryKeepsake) Get(id session.JobID) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret, ok := k.kept[id]; ok {
		return bytes.Clone(secret), nil // Erase overwrites its own
	}
	return nil, ErrNoKeepsake
}

// Erase forgets a job's secret.
func (k *MemoryKeepsake) Erase(id session.JobID) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept[id])
	delete(k.kept, id)
	return nil
}

// DiskKeepsake holds what jobs leave for predictions in a folder, one file for
// each job, sealed to the identity's key.
type DiskKeepsake struct {
	folder string
	key    hpke.PrivateKey
}

// NewDiskKeepsake uses the folder, which it creates if need be.
func NewDiskKeepsake(folder string, key hpke.PrivateKey) (*DiskKeepsake, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return &DiskKeepsake{folder, key}, nil
}

func (k *DiskKeepsake) path(id session.JobID) string { return filepath.Join(k.folder, id.String()) }

// info binds a sealed file to its job.
func info(id session.JobID) []byte { return append([]byte("mercer/v1/keepsake"), id[:]...) }

// Put seals a secret and makes it durable.
func (k *DiskKeepsake) Put(id session.JobID, secret []byte) error {
	sealed, err := hpke.Seal(k.key.PublicKey(), hpke.HKDFSHA256(), hpke.AES256GCM(), info(id), secret)
	if err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	return disk.Replace(k.path(id), sealed)
}

// Get opens a job's secret. Without one it gives [ErrNoKeepsake]; what cannot be
// read, or was sealed to another identity, is another error.
func (k *DiskKeepsake) Get(id session.JobID) ([]byte, error) {
	sealed, err := os.ReadFile(k.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoKeepsake
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	secret, err := hpke.Open(k.key, hpke.HKDFSHA256(), hpke.AES256GCM(), info(id), sealed)
	if err != nil {
		return nil, fmt.Errorf("vault: %s cannot be opened with this identity: %w", k.path(id), err)
	}
	return secret, nil
}

// Erase overwrites and removes a job's secret; one that is not there is fine.
func (k *DiskKeepsake) Erase(id session.JobID) error {
	if err := disk.Erase(k.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
