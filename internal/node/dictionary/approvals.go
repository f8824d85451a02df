// Package dictionary keeps the data dictionaries that a home's operator has approved.
//
// A job names a dictionary and its hash. A home runs the job only if its operator has approved that
// dictionary for the table, so no job decides which rows take part or how a cell is read.
//
//	HASH.yaml  the text of a dictionary; it stays after revocation, since retained models need it
//	approved   the approvals, in the order in which they were given
//	lock       held while approvals are read and then changed
package dictionary

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/job"
)

// Approvals is the path of the folder with a home's approvals. The folder need not exist.
type Approvals string

// Approval is an operator's approval of a dictionary for one table.
type Approval struct {
	Name  string `json:"name"`
	Hash  string `json:"hash"`
	Table string `json:"table,omitempty"` // name of the table; "" at a coordinator, which has no tables
	Day   string `json:"day"`             // date of the approval, YYYY-MM-DD
}

// Find returns the dictionary with a hash, even if its approval was revoked. If the hash is "", it
// returns the dictionary of that name that was approved last.
func (a Approvals) Find(name, hash string) (*job.Dictionary, error) {
	if hash == "" {
		list, err := a.List()
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if one.Name == name {
				hash = one.Hash
			}
		}
	}
	if !isHash(hash) {
		return nil, job.ErrUnapproved
	}
	text, err := os.ReadFile(a.text(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, job.ErrUnapproved
	case err != nil:
		return nil, fmt.Errorf("dictionary: %w", err)
	}
	return job.ParseDictionary(a.text(hash), text)
}

// Approve stores a dictionary and records its approval for a table. If the dictionary is approved
// already, the approval becomes the newest.
func (a Approvals) Approve(d *job.Dictionary, table string, day time.Time) error {
	return a.change(func(list []Approval) ([]Approval, error) {
		one := Approval{d.Name, d.Hash(), table, day.UTC().Format(time.DateOnly)}
		if err := disk.Replace(a.text(one.Hash), d.Encode()); err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(o Approval) bool { return o.Hash == one.Hash && o.Table == table })
		return append(list, one), nil
	})
}

// shownDigits is how many digits of a hash the lists show.
const shownDigits = 12

// Short returns the first digits of the hash, in the form that lists show.
func (o Approval) Short() string { return o.Hash[:min(len(o.Hash), shownDigits)] }

// Revoke removes the approvals of a dictionary and returns them. The argument is the dictionary's
// name, its hash, or the short form of its hash (see [Approval.Short]).
func (a Approvals) Revoke(which string) (revoked []Approval, err error) {
	err = a.change(func(list []Approval) ([]Approval, error) {
		return slices.DeleteFunc(list, func(o Approval) bool {
			found := o.Name == which || o.Hash == which || o.Short() == which
			if found {
				revoked = append(revoked, o)
			}
			return found
		}), nil
	})
	return revoked, err
}

// Approved reports whether a dictionary is approved for a table.
func (a Approvals) Approved(hash, table string) (bool, error) {
	list, err := a.List()
	return slices.ContainsFunc(list, func(o Approval) bool { return o.Hash == hash && o.Table == table }), err
}

// List returns all approvals, the newest last.
func (a Approvals) List() (list []Approval, err error) {
	b, err := os.ReadFile(a.path("approved"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("dictionary: %w", err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("dictionary: %s: %w", a.path("approved"), err)
	}
	return list, nil
}

// change replaces the list of approvals under a lock.
func (a Approvals) change(next func([]Approval) ([]Approval, error)) (err error) {
	if err := disk.MakeDir(string(a)); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	lock, err := disk.WaitLock(a.path("lock"))
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	list, err := a.List()
	if err != nil {
		return err
	}
	if list, err = next(list); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	b, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	return disk.Replace(a.path("approved"), b)
}

func (a Approvals) path(name string) string { return filepath.Join(string(a), name) }

func (a Approvals) text(hash string) string { return a.path(hash + ".yaml") }

// isHash reports whether a text is a hash in hexadecimal digits. Such a text is safe in a file
// name, although peers send it.
func isHash(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 64
}
