package invitation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const (
	// MaxOpen bounds the open invitations of a federation.
	MaxOpen = 64
	// LongestLife is the longest time for which an invitation can be valid.
	LongestLife = 30 * 24 * time.Hour
	// clockError is how far a clock may have gone back since an invitation was made.
	clockError = 2 * time.Minute
	maxFile    = 16 << 10 // bytes of a file of the folder
)

// Invitation is an invitation as the coordinator keeps it, without its secret.
type Invitation struct {
	Name    string    `json:"name"`
	Key     string    `json:"key"` // public key of the secret
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`

	claimant *roster.Member
}

// Claimant returns the member that has claimed the invitation, if there is one.
func (i Invitation) Claimant() (roster.Member, bool) {
	if i.claimant == nil {
		return roster.Member{}, false
	}
	return *i.claimant, true
}

// Over reports whether the invitation has expired. An invitation from the future counts as expired: the
// clock has gone back, and nothing says when the invitation's time is over.
func (i Invitation) Over(now time.Time) bool {
	return !now.Before(i.Expires) || now.Before(i.Created.Add(-clockError))
}

func (i Invitation) check() error {
	if err := roster.CheckName(i.Name); err != nil {
		return err
	}
	if i.Key == "" || i.Created.IsZero() {
		return errors.New("the invitation lacks its key or its time of creation")
	}
	if i.Expires.Sub(i.Created) > LongestLife {
		return fmt.Errorf("the invitation is valid for more than %v", LongestLife)
	}
	return nil
}

// claim is the file of a claim. It counts only for the invitation with the same key.
type claim struct {
	Key    string `json:"key"`
	Member string `json:"member"` // the member file
}

// Folder is the path of the folder of a coordinator's invitations, with mode 0700. For each invitation it
// has NAME.json, which the operator's commands write, and NAME.claim once it is claimed, which the daemon
// writes.
type Folder string

func (f Folder) file(name string) string  { return filepath.Join(string(f), name+".json") }
func (f Folder) claim(name string) string { return filepath.Join(string(f), name+".claim") }

// Put stores an invitation. It replaces an earlier one of the same name, with its claim.
func (f Folder) Put(i Invitation) error {
	if err := i.check(); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	if err := disk.MakeDir(string(f)); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	open, err := f.List(i.Created)
	if err != nil {
		return err
	}
	if others := slices.DeleteFunc(open, func(o Invitation) bool { return o.Name == i.Name }); len(others) >= MaxOpen {
		return fmt.Errorf("invitation: %d invitations are open, the most allowed; wait until one is used or expires, or withdraw one", len(others))
	}
	b, err := json.Marshal(i)
	if err == nil {
		err = errors.Join(remove(f.claim(i.Name)), disk.Replace(f.file(i.Name), b))
	}
	if err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	return nil
}

// Remove withdraws an invitation. It does nothing if there is none.
func (f Folder) Remove(name string) error {
	if err := errors.Join(remove(f.file(name)), remove(f.claim(name))); err != nil {
		return fmt.Errorf("invitation: %w", err)
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List returns the open invitations by name, and removes those that have expired.
func (f Folder) List(now time.Time) ([]Invitation, error) {
	entries, err := os.ReadDir(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("invitation: %w", err)
	}
	var list []Invitation
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".json")
		if !is {
			continue
		}
		i, err := f.read(name)
		if err != nil {
			return nil, err
		}
		if i.Over(now) {
			if err := f.Remove(name); err != nil {
				return nil, err
			}
			continue
		}
		list = append(list, i)
	}
	return list, nil
}

// read reads an invitation with its claim.
func (f Folder) read(name string) (Invitation, error) {
	var i Invitation
	err := decodeFile(f.file(name), &i)
	if err == nil {
		err = i.check()
	}
	if err == nil && i.Name != name {
		err = fmt.Errorf("it is the invitation of %q", i.Name)
	}
	if err != nil {
		return i, fmt.Errorf("invitation: the file %s cannot be used; remove it and invite again: %w", f.file(name), err)
	}
	i.claimant, err = f.claimant(i)
	return i, err
}

func (f Folder) claimant(i Invitation) (*roster.Member, error) {
	var c claim
	err := decodeFile(f.claim(i.Name), &c)
	if errors.Is(err, fs.ErrNotExist) || err == nil && c.Key != i.Key {
		return nil, nil // nobody has claimed it, or only an earlier one of this name
	}
	var m roster.Member
	if err == nil {
		m, err = roster.ParseMember([]byte(c.Member))
	}
	if err != nil {
		return nil, fmt.Errorf("invitation: the file %s cannot be used; invite again: %w", f.claim(i.Name), err)
	}
	return &m, nil
}

func decodeFile(path string, into any) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return fmt.Errorf("it must be a regular file of at most %d bytes", maxFile)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// ErrClaimed reports that an invitation belongs to other keys, or was replaced by another invitation.
var ErrClaimed = errors.New("invitation: the invitation has been used already, with other keys; if you have not used it, somebody else has: tell the operator who sent it")

// Claim records durably that a member claims the invitation, and returns the invitation with the claim. The
// same member may claim it again. The caller calls it for one claim at a time.
func (f Folder) Claim(i Invitation, m roster.Member) (Invitation, error) {
	now, err := f.read(i.Name)
	if err != nil {
		return i, err
	}
	if now.Key != i.Key {
		return i, ErrClaimed // another invitation has replaced it
	}
	if now.claimant != nil {
		if now.claimant.Fingerprint() != m.Fingerprint() {
			return i, ErrClaimed
		}
		return now, nil
	}
	file, err := roster.MarshalMember(m)
	if err != nil {
		return i, err
	}
	b, err := json.Marshal(claim{i.Key, string(file)})
	if err == nil {
		err = disk.Replace(f.claim(i.Name), b)
	}
	if err != nil {
		return i, fmt.Errorf("invitation: %w", err)
	}
	now.claimant = &m
	return now, nil
}
