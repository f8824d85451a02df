package daemon

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
)

// A backup is a tar archive inside a file of age. Its first entry is a [Stamp]. The daemon is allowed to run
// while its home is copied. The home can be restored from every backup, because of the order of the copies:
//
//   - The audit record comes first. The ledger of releases and the studies have an entry before the record
//     has the line of the consent, so their copies, which come later, cover every consent in the copied
//     record. What a session does after its consent is covered, too, if its end is in the copied record.
//   - The ledger of releases and the editions have files that are renamed. Each of these two folders is
//     copied while its lock is held. The list of the editions is copied after their items, so that the copy
//     has all items of the list.
//   - All other files are replaced as a whole, or only grow. A reader of a file that grows cuts off an
//     unfinished end, which nobody relied upon.
//
// What a home did after the backup is not in it. A restored party therefore compares the record with what
// its coordinator has seen of the record ([Home.restoredCheck]). A job with a session that has no end in the
// record might have gone on: the restored party takes no further part in this job, and asks its operator.
//
// A backup never has seeds or journals of open sessions, or files that only open sessions need, because two processes
// with one seed answer twice under the same masks. Of tables it has only the editions. It has no queues of the broker
// and no invitations.

// backedUp lists the files and folders of a home that each backup holds, if the home has them, in their order.
var backedUp = [...]string{
	"audit",
	"identity", "split.key", "member.yaml", "config.yaml", "roster.yaml", "approvals",
	"dictionaries", "studies", "releases", "vault/claims", "vault/journals/used", "heads", "jobs", "editions",
}

// retainedFolder is the folder of retained state, which only some backups hold.
const retainedFolder = "keepsakes"

// Stamp describes a backup.
type Stamp struct {
	Format   string    `json:"format"`
	Made     time.Time `json:"made"`
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	Retained bool      `json:"retained"` // whether the backup holds the retained state of jobs
}

const (
	stampName   = "backup.json"
	stampFormat = "mercer/v1/backup"
	endName     = "end" // an empty entry, so that an archive that was cut off between two files is found out
)

// When returns the time of the backup, for messages.
func (s Stamp) When() string { return s.Made.UTC().Format("2006-01-02 15:04:05 UTC") }

// Backup describes a backup and its content.
type Backup struct {
	Stamp
	Path  string `json:"path"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// Backup writes a backup of the home into a new file of mode 0600, sealed to the recipients. It holds the
// retained state of finished jobs only if retained is true. The home's daemon is allowed to run.
func (h Home) Backup(path string, to []age.Recipient, retained bool) (done Backup, err error) {
	m, err := h.member()
	if err != nil {
		return done, err
	}
	if _, err := os.Lstat(path); err == nil {
		return done, fault.BadInputf("%s exists already; choose another name, or move it away first", path)
	}
	done = Backup{Stamp: Stamp{stampFormat, time.Now().UTC(), m.Name, string(m.Role), retained}, Path: path}
	err = disk.ReplaceBy(path, func(w io.Writer) error {
		sealed, err := age.Encrypt(w, to...)
		if err != nil {
			return err
		}
		b := &backupWriter{tar: tar.NewWriter(sealed), home: h, done: &done}
		if err := b.all(); err != nil {
			return err
		}
		if err := b.tar.Close(); err != nil {
			return err
		}
		return sealed.Close()
	})
	return done, err
}

// backupWriter writes the entries of a backup.
type backupWriter struct {
	tar  *tar.Writer
	home Home
	done *Backup
}

// all writes all entries, in their order.
func (b *backupWriter) all() error {
	stamp, err := json.Marshal(b.done.Stamp)
	if err != nil {
		return err
	}
	if err := b.entry(stampName, stamp); err != nil {
		return err
	}
	for _, name := range backedUp {
		if err := b.one(name); err != nil {
			return err
		}
	}
	if b.done.Retained {
		if err := b.tree(retainedFolder); err != nil {
			return err
		}
	}
	return b.entry(endName, nil)
}

// one copies a file or a folder of the home, under its lock if it has one.
func (b *backupWriter) one(name string) error {
	if _, err := os.Lstat(b.home.path(name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch name {
	case "releases":
		return b.home.Releases().Still(func() error { return b.tree(name) })
	case "editions":
		return b.home.exclusively(func() error {
			if err := b.tree(name); err != nil {
				return err
			}
			return b.file(editionsList)
		})
	}
	return b.tree(name)
}

// editionsList is the list of editions, which is copied after their items.
const editionsList = "editions/list"

// tree copies the regular files at or under a path of the home, except the list of editions and drafts, whose
// names begin with a dot.
func (b *backupWriter) tree(name string) error {
	return filepath.WalkDir(b.home.path(name), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			return err
		case !d.Type().IsRegular(), strings.HasPrefix(d.Name(), "."): // a draft
			return nil
		}
		relative, err := filepath.Rel(b.home.folder, path)
		if err != nil || filepath.ToSlash(relative) == editionsList {
			return err
		}
		return b.file(filepath.ToSlash(relative))
	})
}

// file copies one file, up to the length that it has when it is opened. A file that does not exist is no error.
func (b *backupWriter) file(name string) (err error) {
	f, err := os.Open(b.home.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	b.done.Files++
	b.done.Bytes += info.Size()
	if err := b.tar.WriteHeader(headerOf(name, info.Size(), info.ModTime())); err != nil {
		return err
	}
	if _, err := io.CopyN(b.tar, f, info.Size()); err != nil {
		return fmt.Errorf("%s was not copied completely; run the command again: %w", f.Name(), err)
	}
	return nil
}

// entry adds an entry that is no file of the home.
func (b *backupWriter) entry(name string, content []byte) error {
	if err := b.tar.WriteHeader(headerOf(name, int64(len(content)), b.done.Made)); err != nil {
		return err
	}
	_, err := b.tar.Write(content)
	return err
}

func headerOf(name string, size int64, at time.Time) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at, Format: tar.FormatPAX}
}
