package vault

import (
	"bytes"
	"crypto/hpke"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/sealed"
	"github.com/mercer-fl/mercer/internal/job"
)

// Item is the name of an artifact.
type Item string

// These are names of jobs' artifacts. The first four are the coordinator's, the others a
// party's.
const (
	Model           Item = "model"
	Answers         Item = "answers"   // the coordinator's state for answering questions about new rows
	Decisions       Item = "decisions" // decisions about held-out rows, with the rows' labels
	Rows            Item = "rows"      // encoded rows and their products, for a later job that continues the job
	Predictor       Item = "predictor" // the state for predictions or later jobs: an encoder, a model, a part of a model, or a fit
	Alignment       Item = "alignment" // the ids of the job's rows, in the order of the rows
	Aligned         Item = "aligned"   // how the rows of the parties match in the job, for later jobs
	Recommendations Item = "recommendations"
	Notices         Item = "remarks"  // notices about the party's own table
	Figures         Item = "figures"  // the party's predictions of held-out rows, with their labels and figures
	Description     Item = "about"    // what lists of jobs show of the job; it is not counted as an artifact
	Snapshot        Item = "snapshot" // rows of a changeable source, for open jobs only
)

// Noun returns the word that messages use for the item. Its file keeps the name of the first
// version.
func (i Item) Noun() string {
	if i == Notices {
		return "notices"
	}
	return string(i)
}

// Artifacts stores the artifacts of finished jobs, in a folder for each job. Other Artifacts store in the same
// way the snapshots of open jobs, and editions under ids of their own. Each job has its own key, which seals all
// of its artifacts. The key itself is sealed to the identity:
//
//	ID/key   the job's 32 bytes, sealed to the identity; see also [Artifacts.SealNext]
//	ID/ITEM  an item, sealed under the key
//
// Erasing a job overwrites its key; then the items cannot be opened, even if a drive, snapshot or
// backup still has some of them. Artifacts is safe for concurrent use within one process.
type Artifacts struct {
	folder string
	key    hpke.PrivateKey
	mu     sync.Mutex // makes sure that each job gets only one key
}

// OpenArtifacts opens or creates the folder. It removes the remains of a crash: parts of files, and
// files whose key is gone.
func OpenArtifacts(folder string, key hpke.PrivateKey) (*Artifacts, error) {
	if err := disk.MakeDirs(folder); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	e := ReadArtifacts(folder, key)
	if err := e.sweep(); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return e, nil
}

// ReadArtifacts opens the folder for reading, in a process that does not own the folder. It changes
// nothing.
func ReadArtifacts(folder string, key hpke.PrivateKey) *Artifacts {
	return &Artifacts{folder: folder, key: key}
}

func (e *Artifacts) sweep() error {
	ids, err := e.ids()
	for _, id := range ids {
		err = errors.Join(err, disk.Sweep(e.path(id, "")))
		if _, missing := os.Stat(e.path(id, keyFile)); errors.Is(missing, fs.ErrNotExist) {
			err = errors.Join(err, os.RemoveAll(e.path(id, "")))
		}
	}
	return err
}

const keyFile = "key"

func (e *Artifacts) path(id job.ID, file string) string {
	return filepath.Join(e.folder, id.String(), file)
}

// jobInfo returns the HPKE info that binds a sealed key to its job.
func jobInfo(id job.ID) []byte { return append([]byte("mercer/v1/estate"), id[:]...) }

// itemInfo returns the text that binds a sealed item to its name and its job.
func itemInfo(id job.ID, item Item) string {
	return "mercer/v1/estate/" + id.String() + "/" + string(item)
}

// Put seals an item and stores it durably. It replaces an earlier item of the same name.
func (e *Artifacts) Put(id job.ID, item Item, secret []byte) error {
	return e.Write(id, item, func(w io.Writer) error {
		_, err := w.Write(secret)
		return err
	})
}

// Write does the work of Put for an item that is too large for memory.
func (e *Artifacts) Write(id job.ID, item Item, write func(io.Writer) error) error {
	key, err := e.makeKey(id)
	if err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	defer clear(key)
	return disk.ReplaceBy(e.path(id, string(item)), func(to io.Writer) error {
		w, err := sealed.NewWriter(to, key, itemInfo(id, item))
		if err != nil {
			return err
		}
		return errors.Join(write(w), w.Close())
	})
}

// makeKey returns a job's key. It makes a new key if the job has none.
func (e *Artifacts) makeKey(id job.ID) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key, err := e.openKey(id)
	if !errors.Is(err, ErrNoState) {
		return key, err
	}
	key = make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	sealed, err := sealKey(e.key.PublicKey(), id, key)
	if err != nil {
		return nil, err
	}
	if err := disk.MakeDir(e.path(id, "")); err != nil {
		return nil, err
	}
	return key, disk.Replace(e.path(id, keyFile), sealed)
}

// openKey returns a job's key, or an error that wraps [ErrNoState] if there is none.
func (e *Artifacts) openKey(id job.ID) ([]byte, error) {
	sealed, err := os.ReadFile(e.path(id, keyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoState
	}
	if err != nil {
		return nil, err
	}
	key, err := e.unseal(id, sealed)
	if err == nil {
		return key, nil
	}
	if next, missing := os.ReadFile(e.path(id, nextKeyFile)); missing == nil {
		if key, err := e.unseal(id, next); err == nil {
			return key, nil
		}
	}
	return nil, fmt.Errorf("the key file %s cannot be opened with this identity: %w", e.path(id, keyFile), err)
}

// sealKey seals a job's key to an identity.
func sealKey(to hpke.PublicKey, id job.ID, key []byte) ([]byte, error) {
	return hpke.Seal(to, hpke.HKDFSHA256(), hpke.AES256GCM(), jobInfo(id), key)
}

// unseal opens a job's key that was sealed to this identity.
func (e *Artifacts) unseal(id job.ID, sealed []byte) ([]byte, error) {
	return hpke.Open(e.key, hpke.HKDFSHA256(), hpke.AES256GCM(), jobInfo(id), sealed)
}

// keyOf returns a job's key, or [ErrNoState] itself if the job has no key. It prefixes all other
// errors with the name of the package.
func (e *Artifacts) keyOf(id job.ID) ([]byte, error) {
	key, err := e.openKey(id)
	if err == nil || errors.Is(err, ErrNoState) {
		return key, err
	}
	return nil, fmt.Errorf("vault: %w", err)
}

// Get decrypts and returns an item. It returns [ErrNoState] if there is none, and another error if
// the item cannot be read, or was sealed to another identity.
func (e *Artifacts) Get(id job.ID, item Item) ([]byte, error) {
	key, err := e.keyOf(id)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	file, err := os.ReadFile(e.path(id, string(item)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoState
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	secret, err := sealed.Open(file, key, itemInfo(id, item))
	if err != nil {
		return nil, fmt.Errorf("vault: %s: %w", e.path(id, string(item)), err)
	}
	return secret, nil
}

// List returns the names of a job's artifacts, in alphabetical order, without its description.
func (e *Artifacts) List(id job.ID) ([]Item, error) {
	entries, err := os.ReadDir(e.path(id, ""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	var items []Item
	for _, f := range entries {
		if f.Name() != keyFile && f.Name() != nextKeyFile && Item(f.Name()) != Description {
			items = append(items, Item(f.Name()))
		}
	}
	return items, nil
}

// Jobs lists the jobs that have a key, with the time of their first artifact. They are listed even after EraseItems
// has erased all their artifacts.
func (e *Artifacts) Jobs() ([]Retained, error) {
	ids, err := e.ids()
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	var list []Retained
	for _, id := range ids {
		info, err := os.Stat(e.path(id, keyFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another call has erased the job meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("vault: %w", err)
		}
		list = append(list, Retained{id, info.ModTime()})
	}
	return list, nil
}

// Erase overwrites a job's key, removes all its artifacts, and returns their names. It returns no
// error if the job has none.
func (e *Artifacts) Erase(id job.ID) ([]Item, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := os.Stat(e.path(id, "")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	gone, err := e.List(id)
	if err != nil {
		return nil, err
	}
	for _, file := range []string{nextKeyFile, keyFile} {
		if err := disk.Erase(e.path(id, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := os.RemoveAll(e.path(id, "")); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return gone, disk.SyncDir(e.folder)
}

// EraseItems overwrites and removes some items of a job, and returns the names of those that were there. The job's key
// and other items stay.
func (e *Artifacts) EraseItems(id job.ID, items ...Item) (gone []Item, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, item := range items {
		switch err := disk.Erase(e.path(id, string(item))); {
		case err == nil:
			gone = append(gone, item)
		case !errors.Is(err, fs.ErrNotExist):
			return gone, err
		}
	}
	return gone, nil
}

// ErrNoState reports that the job has no retained state in this store.
var ErrNoState = errors.New("vault: this process holds no retained state of this job")

// Retained is a job that has or had artifacts, and the time of its first artifact.
type Retained struct {
	Job   job.ID
	Since time.Time
}

// Of returns a store for one kind of item, with one item for each job.
func (e *Artifacts) Of(item Item) Items { return Items{e, item} }

// Items stores items of one kind, one for each job.
type Items struct {
	artifacts *Artifacts
	item      Item
}

// Put seals a job's item and stores it durably.
func (i Items) Put(id job.ID, secret []byte) error { return i.artifacts.Put(id, i.item, secret) }

// Get decrypts and returns a job's item. It returns [ErrNoState] if there is none.
func (i Items) Get(id job.ID) ([]byte, error) { return i.artifacts.Get(id, i.item) }

// States returns a view of the artifacts that stores only the state for predictions or later jobs.
func (e *Artifacts) States() *DiskStates { return &DiskStates{e} }

// DiskStates is the store on disk for the state that jobs keep for predictions or later jobs.
type DiskStates struct{ artifacts *Artifacts }

// Put seals a job's secret and stores it durably.
func (k *DiskStates) Put(id job.ID, secret []byte) error {
	return k.artifacts.Put(id, Predictor, secret)
}

// Get decrypts and returns a job's secret. It returns [ErrNoState] if there is none.
func (k *DiskStates) Get(id job.ID) ([]byte, error) { return k.artifacts.Get(id, Predictor) }

// Erase erases all artifacts of a job here, and returns their names.
func (k *DiskStates) Erase(id job.ID) ([]Item, error) { return k.artifacts.Erase(id) }

// EraseItems erases some artifacts of a job here, and returns the names of those that were there.
func (k *DiskStates) EraseItems(id job.ID, items ...Item) ([]Item, error) {
	return k.artifacts.EraseItems(id, items...)
}

// Jobs lists the jobs that have or had artifacts, like [Artifacts.Jobs].
func (k *DiskStates) Jobs() ([]Retained, error) { return k.artifacts.Jobs() }

// MemoryStates stores one secret for each job in memory: the state for predictions or later jobs, or, in another
// store, an alignment.
type MemoryStates struct {
	mu   sync.Mutex
	kept map[job.ID][]byte
}

// NewMemoryStates returns an empty store.
func NewMemoryStates() *MemoryStates {
	return &MemoryStates{kept: make(map[job.ID][]byte)}
}

// Put stores a copy of a job's secret.
func (k *MemoryStates) Put(id job.ID, secret []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept[id])
	k.kept[id] = bytes.Clone(secret)
	return nil
}

// Get returns a copy of a job's secret, or [ErrNoState].
func (k *MemoryStates) Get(id job.ID) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret, ok := k.kept[id]; ok {
		return bytes.Clone(secret), nil // a copy, because Erase overwrites the stored secret
	}
	return nil, ErrNoState
}

// Erase overwrites and removes a job's secret. Whatever the secret was, Erase calls it Predictor.
func (k *MemoryStates) Erase(id job.ID) ([]Item, error) {
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

// Jobs returns no jobs, because the secrets end with the process.
func (k *MemoryStates) Jobs() ([]Retained, error) { return nil, nil }

// EraseItems does nothing, because nothing in this store is erased by its age.
func (k *MemoryStates) EraseItems(job.ID, ...Item) ([]Item, error) { return nil, nil }
