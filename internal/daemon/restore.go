package daemon

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/protocol"
)

// restoredPath returns the path of the mark that the home was restored from a backup. The mark is removed
// once the coordinator's answer or the operator lets the party go on.
func (h Home) restoredPath() string { return h.path("restored") }

// Restore makes the home from a backup, which one of the keys opens. The folder must not exist. It appears
// once the whole backup has been read and checked. A restored party is marked. It goes on once its
// coordinator says that it has seen nothing later than the backup, or after [Home.AcceptLoss].
func (h Home) Restore(from string, keys []age.Identity) (done Backup, err error) {
	if _, err := os.Lstat(h.folder); err == nil {
		return done, fault.BadInputf("%s exists already; give a folder that does not exist yet with --home", h)
	}
	f, err := regular.Open(from)
	if err != nil {
		return done, fault.BadInput(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	within := filepath.Dir(h.folder)
	draft, err := os.MkdirTemp(within, ".restore-*") // mode 0700
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return done, fault.BadInputf("%s cannot be made, because there is no folder %s; make that folder first, or give another home with --home", h, within)
	case err != nil:
		return done, fault.BadInputf("%s cannot be made (%w); give a home in a folder of yours with --home", h, err)
	}
	done, err = At(draft).unpack(f, keys)
	done.Path = from
	if err == nil && done.Role == string(roster.Party) {
		err = At(draft).markRestored(done.Stamp)
	}
	if err == nil {
		err = syncTree(draft)
	}
	if err == nil {
		err = os.Rename(draft, h.folder)
	}
	if err != nil {
		return done, errors.Join(err, os.RemoveAll(draft))
	}
	return done, disk.SyncDir(filepath.Dir(h.folder))
}

// unpack writes the files of a backup into the home, and checks that the backup is whole.
func (h Home) unpack(f *os.File, keys []age.Identity) (done Backup, err error) {
	plain, err := age.Decrypt(f, keys...)
	var wrong *age.NoIdentityMatchError
	switch {
	case err == nil:
	case errors.As(err, &wrong):
		return done, fault.BadInputf("%s is not sealed to this key; give the key of a recipient that the backup was made for", f.Name())
	case disk.Failed(err):
		return done, err
	default: // the error of age can quote the file, which may be a passphrase given by mistake
		return done, fault.BadInputf("%s is no whole backup, or was changed: it does not begin like a file of age; nothing was restored", f.Name())
	}
	done, err = h.unpackFiles(tar.NewReader(plain))
	if err == nil {
		_, err = io.Copy(io.Discard, plain) // age has checked the end only once it was read
	}
	var own *fs.PathError
	switch {
	case err == nil, disk.Failed(err), errors.As(err, &own) && own.Path != f.Name():
		return done, err
	}
	return done, fault.BadInputf("%s is no whole backup, or was changed (%w); nothing was restored", f.Name(), err)
}

func (h Home) unpackFiles(in *tar.Reader) (done Backup, err error) {
	first, err := in.Next()
	if err != nil {
		return done, err
	}
	if done.Stamp, err = readStamp(first, in); err != nil {
		return done, err
	}
	newest := make(map[string]time.Time) // of the files in each folder
	for {
		head, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return done, errors.New("its end is missing")
		case err != nil:
			return done, err
		case head.Name == endName:
			if _, err := in.Next(); !errors.Is(err, io.EOF) {
				return done, errors.New("something follows its end")
			}
			return done, h.keepTimes(newest)
		}
		if err := h.unpackOne(head, in); err != nil {
			return done, err
		}
		if folder := path.Dir(head.Name); newest[folder].Before(head.ModTime) {
			newest[folder] = head.ModTime
		}
		done.Files++
		done.Bytes += head.Size
	}
}

// keepTimes gives each folder the time of its newest file. Retention counts from the time of a job's folder.
func (h Home) keepTimes(newest map[string]time.Time) error {
	for folder, at := range newest {
		if folder == "." {
			continue
		}
		if err := os.Chtimes(h.path(filepath.FromSlash(folder)), at, at); err != nil {
			return err
		}
	}
	return nil
}

// syncTree flushes the entries of all folders at and under a folder.
func syncTree(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return disk.SyncDir(path)
	})
}

// maxStamp bounds the bytes of a stamp.
const maxStamp = 1 << 12

func readStamp(head *tar.Header, in io.Reader) (s Stamp, err error) {
	if head.Name != stampName || head.Size > maxStamp {
		return s, errors.New("it does not begin like a backup")
	}
	b, err := io.ReadAll(in)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && s.Format != stampFormat {
		err = fmt.Errorf("its format is %q, but this program reads %q", fault.Printable(s.Format), stampFormat)
	}
	return s, err
}

// unpackOne writes one file of a backup. It returns an error for a file that does not belong in a backup.
func (h Home) unpackOne(head *tar.Header, in io.Reader) error {
	if head.Typeflag != tar.TypeReg || !belongs(head.Name) {
		return fmt.Errorf("it holds %q, which is no file of a home", fault.Printable(head.Name))
	}
	to := h.path(filepath.FromSlash(head.Name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, head.ModTime, head.ModTime)
}

// belongs reports whether a backup can hold a file of this name.
func belongs(name string) bool {
	return name == path.Clean(name) && slices.ContainsFunc(append(backedUp[:], retainedFolder), func(part string) bool {
		return name == part || strings.HasPrefix(name, part+"/")
	})
}

// markRestored marks a restored party. Releases that its ledger has admitted count as made, because they might
// have been made after the backup. Jobs that were open are over here, and their ids are not used again.
func (h Home) markRestored(s Stamp) error {
	if err := h.endOpenJobs(); err != nil {
		return err
	}
	if _, err := os.Stat(h.path("releases")); err == nil {
		if err := h.Releases().ReleaseAdmitted(); err != nil {
			return err
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return disk.Create(h.restoredPath(), b)
}

// endOpenJobs claims the names of the jobs whose sessions have no end in the audit record.
func (h Home) endOpenJobs() (err error) {
	found, err := audit.Look(h.AuditPath(), "")
	if err != nil || len(found.Open) == 0 {
		return err
	}
	if err := os.MkdirAll(h.path("vault"), 0o700); err != nil {
		return err
	}
	claims, err := journal.OpenLedger(h.path("vault/claims"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, claims.Close()) }()
	for _, id := range found.Open {
		var held *journal.HeldError
		if err := claims.Claim(restoredID(), party.OverClaim(id)); err != nil && !errors.As(err, &held) {
			return err
		}
	}
	return nil
}

// restoredID returns the id under which a restored home claims names.
func restoredID() protocol.SessionID { return sha256.Sum256([]byte("mercer/v1/restored")) }

// restoredCheck returns a function that lets a restored party go on, or nil for a home that was not
// restored. The function takes the last head of the party's audit record that the coordinator has seen, or
// zero if it has seen none.
func (h Home) restoredCheck(record *audit.Log) (func(head [32]byte) error, error) {
	text, err := os.ReadFile(h.restoredPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	var s Stamp
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fault.BadInputf("%s cannot be read: %w", h.restoredPath(), err)
	}
	return func(head [32]byte) error {
		if err := h.isNewest(s, head); err != nil {
			return err
		}
		return h.goOn(record, audit.Event{Kind: audit.Restored, Outcome: "from the backup of " + s.When() + "; the coordinator has seen nothing later"})
	}, nil
}

// isNewest returns an error unless it is certain that the party has consented to nothing since the backup.
func (h Home) isNewest(s Stamp, head [32]byte) error {
	found, err := audit.Look(h.AuditPath(), hex.EncodeToString(head[:]))
	if err != nil {
		return err
	}
	known := head != [32]byte{}
	const otherwise = "restore a later backup, or accept that the home does not know what it has released since: mercer audit accept-loss --home %s"
	switch when := s.When(); {
	case known && !found.Has:
		return fault.BadInputf("the backup of %s is an old one: the coordinator has seen later lines of this party's audit record; "+otherwise, when, h)
	case !known && found.Accepted:
		return fault.BadInputf("the coordinator has no record of this party, so nobody can say whether the backup of %s is an old one; "+otherwise, when, h)
	case len(found.Open) > 0:
		return fault.BadInputf("the backup of %s was made while jobs were open (%s), which may have released more since; "+otherwise, when, strings.Join(found.Open, ", "), h)
	}
	return nil
}

// goOn removes the mark of a restored home, after it has added the reason to the audit record.
func (h Home) goOn(record *audit.Log, why audit.Event) error {
	if err := record.Append(why); err != nil {
		return err
	}
	if err := os.Remove(h.restoredPath()); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.SyncDir(h.folder)
}

// AcceptLoss lets a party start although its home was restored from a backup that might be an old one. The audit
// record has the user of this process, who takes the responsibility. All privacy budgets of the home count as spent
// until [Home.SettleBudget]. The home's daemon must not run.
func (h Home) AcceptLoss(jobs *job.Reader) error {
	return h.alone(func() error {
		if _, err := os.Stat(h.restoredPath()); errors.Is(err, fs.ErrNotExist) {
			return fault.BadInputf("%s was not restored from a backup, or goes on already", h)
		}
		record, by, err := h.decision(jobs)
		if err != nil {
			return err
		}
		id, err := h.Releases().Lose() // before the line, so that no home goes on with a budget that might be spent
		if err != nil {
			return err
		}
		return h.goOn(record, audit.Event{
			Kind: audit.LossAccepted, By: &by, Releases: []audit.Release{{Kind: string(method.ReleaseNoise), ID: id}},
			Outcome: "restored from a backup; what was released since may be unknown, so all privacy budgets count as spent until mercer budget settle",
		})
	})
}
