package vault

import (
	"crypto/hpke"
	"errors"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/job"
)

// nextKeyFile holds a job's key sealed to the home's next identity, while the identity is being changed.
// Whichever of the two identities is in the home after a crash, one of the two files opens.
const nextKeyFile = "key.next"

// SealNext seals the key of each job to the next identity, too. [Artifacts.Settle] ends the change, once
// the home has that identity or has kept this one. It returns the number of keys that it opened, and the number
// of keys that this identity cannot open.
func (e *Artifacts) SealNext(next hpke.PublicKey) (sealed, foreign int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids, err := e.ids()
	for _, id := range ids {
		err = errors.Join(err, e.keepingTime(id, func() error {
			key, err := e.openKey(id)
			switch {
			case errors.Is(err, ErrNoState):
				return nil // the remains of an erasure
			case err != nil:
				foreign++
				return nil
			}
			defer clear(key)
			sealed++
			again, err := sealKey(next, id, key)
			if err != nil {
				return err
			}
			return disk.Replace(e.path(id, nextKeyFile), again)
		}))
	}
	return sealed, foreign, err
}

// Settle ends a change of the identity, under the identity that the home now has. If a job's key was sealed to
// this identity as the next one, that file takes the place of the file that was sealed to the earlier identity.
// If it was sealed to another next identity, the file for that identity is removed.
func (e *Artifacts) Settle() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids, err := e.ids()
	for _, id := range ids {
		err = errors.Join(err, e.keepingTime(id, func() error { return e.settle(id) }))
	}
	return err
}

func (e *Artifacts) settle(id job.ID) error {
	path := e.path(id, nextKeyFile)
	sealed, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if key, err := e.unseal(id, sealed); err == nil {
		clear(key)
		if err := disk.ReplaceSecret(e.path(id, keyFile), sealed); err != nil {
			return err
		}
	}
	return disk.Erase(path)
}

// keepingTime calls a function that changes files of a job, and keeps the time of its key, from which retention
// counts. After a crash in between, retention counts from then on.
func (e *Artifacts) keepingTime(id job.ID, change func() error) error {
	key := e.path(id, keyFile)
	info, err := os.Stat(key)
	if errors.Is(err, fs.ErrNotExist) {
		return change() // the remains of an erasure
	}
	if err != nil {
		return err
	}
	return errors.Join(change(), os.Chtimes(key, info.ModTime(), info.ModTime()))
}

// ids lists the jobs that have a folder.
func (e *Artifacts) ids() (ids []job.ID, err error) {
	entries, err := os.ReadDir(e.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, dir := range entries {
		if id, notOurs := job.ParseID(dir.Name()); notOurs == nil && dir.IsDir() {
			ids = append(ids, id)
		}
	}
	return ids, err
}
