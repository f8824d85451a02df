package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/protocol"
)

// SeedSize is the length of a session's seed in bytes.
const SeedSize = 32

// Journal is the log of one open session. It is not safe for concurrent use.
type Journal struct {
	store  *Store
	dir    string
	header Header
	log    *os.File
	mark   *mark
	sealer sealer
	bodies bodies

	start  int64  // offset of the first record in the log
	end    int64  // offset at which the next frame is written
	next   uint64 // number of the record in the next frame
	synced uint64 // number of records that are known to be on disk
	broken error  // the journal's first failure, after which nothing is written
	closed bool
	frame  []byte // buffer, used again for each frame
}

// Header returns the unencrypted facts at the beginning of the log.
func (j *Journal) Header() Header { return j.header }

// Seed reads the session's seed from the disk. The journal keeps no copy in memory.
func (j *Journal) Seed() ([SeedSize]byte, error) { return readSeed(seedPath(j.dir)) }

// Size returns the number of bytes that the log and the side files take.
func (j *Journal) Size() int64 { return j.end + j.bodies.bytes }

// Len returns the number of records in the journal.
func (j *Journal) Len() int { return int(j.next) }

// Append writes one record to the operating system. The record survives the end of the process, but
// not of the machine: call Sync before anything that depends on it leaves the process. A refused or
// failed record leaves the journal as it was. If Append cannot undo a failed write, or cannot flush the
// side files of earlier records, the journal takes no more records.
func (j *Journal) Append(r Record) error {
	if j.broken != nil {
		return j.broken
	}
	if err := r.validate(); err != nil {
		return err
	}
	e, body := split(r)
	if body != nil {
		if err := j.writeBody(body); err != nil {
			return err
		}
	}
	j.frame = appendFrame(j.frame[:0], j.sealer, j.next, e.encode())
	if _, err := j.log.WriteAt(j.frame, j.end); err != nil {
		return j.undo(err, body)
	}
	j.end += int64(len(j.frame))
	j.next++
	return nil
}

// split takes a body that is too large for the log out of a record. The returned body belongs into a
// side file. It is nil if the record has no such body.
func split(r Record) (entry, []byte) {
	e, ok := r.Event.(protocol.Received)
	if !ok || len(e.Message.Body) <= inlineBytes {
		return entry{Record: r}, nil
	}
	body := e.Message.Body
	e.Message.Body = nil
	r.Event = e
	return entry{r, &side{len(body), sha256.Sum256(body)}}, body
}

func (j *Journal) writeBody(body []byte) error {
	if err := j.bodies.bound(); err != nil {
		return j.fail(err)
	}
	if err := j.bodies.write(j.next, body); err != nil {
		return fmt.Errorf("journal: could not write the body of record %d: %w", j.next, err)
	}
	return nil
}

// fail records a failure, after which the journal accepts no more records.
func (j *Journal) fail(err error) error {
	j.broken = fmt.Errorf("journal: session %v: %w", j.header.Session, err)
	return j.broken
}

// undo removes a partly written record and its body.
func (j *Journal) undo(cause error, body []byte) error {
	cause = fmt.Errorf("journal: could not write record %d: %w", j.next, cause)
	err := j.log.Truncate(j.end)
	if body != nil {
		err = errors.Join(err, j.bodies.drop(j.next, len(body)))
	}
	if err != nil {
		return j.fail(errors.Join(cause, err))
	}
	return cause
}

// Sync returns once every record is on disk, with its side file. After an
// error the kernel may have dropped what it could not write, so the journal
// takes no more records.
func (j *Journal) Sync() error {
	if j.broken != nil || j.synced == j.next {
		return j.broken
	}
	if err := j.flush(); err != nil {
		return j.fail(err)
	}
	return nil
}

// flush writes everything to the disk in an order that survives a crash. Bodies come before the
// records that name them, and records before the mark that counts them.
func (j *Journal) flush() error {
	if err := j.bodies.sync(); err != nil {
		return err
	}
	if err := j.log.Sync(); err != nil {
		return err
	}
	j.synced = j.next
	return j.mark.set(j.next)
}

// Records returns an iterator over the records that are in the journal when the iteration begins,
// oldest first. One body is in memory at a time. The iteration ends after an error, which wraps
// [ErrLost] if the session must be aborted.
func (j *Journal) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if j.closed {
			yield(Record{}, j.broken)
			return
		}
		fr := newFrames(j.log, j.start, j.end, j.sealer)
		for {
			r, err := j.read(fr)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (j *Journal) read(fr *frames) (Record, error) {
	number, offset := fr.number, fr.offset
	plain, err := fr.next()
	if errors.Is(err, io.EOF) {
		return Record{}, io.EOF
	}
	var e entry
	if err == nil {
		e, err = decode(plain)
	}
	if err != nil {
		return Record{}, fault(j.log.Name(), offset, err)
	}
	if e.side == nil {
		return e.Record, nil
	}
	body, err := j.bodies.read(number, *e.side)
	if err != nil {
		return Record{}, fault(j.bodies.path(number), 0, err)
	}
	return e.restore(body), nil
}

// Close closes the files without flushing them. A power cut may lose unsynced records. The session
// does not end: [Store.Open] opens it again.
func (j *Journal) Close() error {
	if j.closed {
		return nil
	}
	err := errors.Join(j.bodies.close(), j.log.Close(), j.mark.close())
	j.closed = true
	j.broken = errors.New("journal: the journal is closed")
	j.store.release(j.header.Session)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Destroy closes the journal and destroys the session; see [Store.Destroy].
func (j *Journal) Destroy(tombstone []byte) error {
	return errors.Join(j.Close(), j.store.Destroy(j.header.Session, tombstone))
}

func seedPath(dir string) string { return filepath.Join(dir, "seed") }
func logPath(dir string) string  { return filepath.Join(dir, "log") }
func bodyPath(dir string) string { return filepath.Join(dir, "body") }
func tombPath(dir string) string { return filepath.Join(dir, "tombstone") }
