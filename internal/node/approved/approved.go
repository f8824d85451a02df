// Package approved keeps the documents that a home's operator has approved by their hash: data
// dictionaries and studies.
//
// A job names such a document and its hash. A home runs the job only if its operator has approved that
// document for the table, so no job decides which rows take part, how a cell is read, or what several
// jobs reveal together.
//
//	HASH.yaml  the text of a document; it stays after revocation, since retained models need it
//	approved   the approvals, in the order in which they were given
//	lock       held while approvals are read and then changed
package approved

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

// Document is a data dictionary or a study.
type Document interface {
	Hash() string   // SHA-256 of the encoding, in hexadecimal digits
	Encode() []byte // the canonical file
	Title() string  // the name that jobs use
}

// Store is the folder with a home's approvals of one type of documents. The folder need not exist.
type Store[D Document] struct {
	Folder  string
	Parse   func(path string, text []byte) (D, error)
	Unknown error // error of Find for a document that the home does not have
}

// Approval is an operator's approval of a document for one table.
type Approval struct {
	Name  string `json:"name"`
	Hash  string `json:"hash"`
	Table string `json:"table,omitempty"` // name of the table; "" at a coordinator, which has no tables
	Day   string `json:"day"`             // date of the approval, YYYY-MM-DD
}

// DamagedError reports a stored document, or a list of approvals, that this program cannot parse. Its text
// quotes the home's file, so peers must not read it.
type DamagedError struct{ err error }

func (e *DamagedError) Error() string { return e.err.Error() }

// Unwrap returns the error of the parser.
func (e *DamagedError) Unwrap() error { return e.err }

// Find returns the document with a hash, even if its approval was revoked. If the hash is "", it
// returns the document of that name that was approved last. The error of a stored text or list that
// does not parse is a *[DamagedError].
func (a Store[D]) Find(name, hash string) (d D, err error) {
	if hash == "" {
		list, err := a.List()
		if err != nil {
			return d, err
		}
		for _, one := range list {
			if one.Name == name {
				hash = one.Hash
			}
		}
	}
	if !job.IsHash(hash) {
		return d, a.Unknown
	}
	text, err := os.ReadFile(a.text(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d, a.Unknown
	case err != nil:
		return d, fmt.Errorf("approved: %w", err)
	}
	if d, err = a.Parse(a.text(hash), text); err != nil {
		return d, &DamagedError{err}
	}
	return d, nil
}

// Approve stores a document and records its approval for a table. If the document is approved
// already, the approval becomes the newest.
func (a Store[D]) Approve(d D, table string, day time.Time) error {
	return a.change(func(list []Approval) ([]Approval, error) {
		one := Approval{d.Title(), d.Hash(), table, day.UTC().Format(time.DateOnly)}
		if err := disk.Replace(a.text(one.Hash), d.Encode()); err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(o Approval) bool { return o.Hash == one.Hash && o.Table == table })
		return append(list, one), nil
	})
}

// shownDigits is the number of digits of a hash that lists show.
const shownDigits = 12

// Short returns the first digits of the hash, in the form that lists show.
func (o Approval) Short() string { return o.Hash[:min(len(o.Hash), shownDigits)] }

// Revoke removes the approvals of a document and returns them. The argument is the document's hash, the
// short form of its hash (see [Approval.Short]), or its name, which means all documents of that name.
func (a Store[D]) Revoke(which string) (revoked []Approval, err error) {
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

// Approved reports whether a document is approved for a table.
func (a Store[D]) Approved(hash, table string) (bool, error) {
	list, err := a.List()
	return slices.ContainsFunc(list, func(o Approval) bool { return o.Hash == hash && o.Table == table }), err
}

// List returns all approvals, the newest last.
func (a Store[D]) List() (list []Approval, err error) {
	b, err := os.ReadFile(a.path("approved"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("approved: %w", err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, &DamagedError{fmt.Errorf("approved: the list %s cannot be parsed: %w", a.path("approved"), err)}
	}
	return list, nil
}

// change replaces the list of approvals under a lock.
func (a Store[D]) change(next func([]Approval) ([]Approval, error)) (err error) {
	if err := disk.MakeDir(a.Folder); err != nil {
		return fmt.Errorf("approved: %w", err)
	}
	lock, err := disk.WaitLock(a.path("lock"))
	if err != nil {
		return fmt.Errorf("approved: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	list, err := a.List()
	if err != nil {
		return err
	}
	if list, err = next(list); err != nil {
		return fmt.Errorf("approved: %w", err)
	}
	b, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("approved: %w", err)
	}
	return disk.Replace(a.path("approved"), b)
}

func (a Store[D]) path(name string) string { return filepath.Join(a.Folder, name) }

func (a Store[D]) text(hash string) string { return a.path(hash + ".yaml") }
