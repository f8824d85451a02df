package journal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/protocol"
)

// Ledger records permanently which session has claimed each name. A name stands for something that
// only one session can have, such as an epoch or a token. The ledger is safe for concurrent use within
// one process, and keeps every name in memory.
//
// The file has one line for each claim: CRC-32, session, quoted name. A line that a crash cut off was
// never relied upon and is removed.
type Ledger struct {
	mu     sync.Mutex
	file   *os.File
	end    int64
	holder map[string]protocol.SessionID
	broken error
}

// HeldError reports that another session has already claimed a name.
type HeldError struct {
	Name   string
	Holder protocol.SessionID
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("journal: %q was used by session %v and is never used again", e.Name, e.Holder)
}

// OpenLedger opens or creates the ledger at path, and locks it for this process.
func OpenLedger(path string) (*Ledger, error) {
	f, err := disk.Lock(path)
	if err != nil {
		return nil, fmt.Errorf("journal: ledger: %w", err)
	}
	l := &Ledger{file: f}
	if err := l.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: the ledger %s cannot be read: %w", path, err), f.Close())
	}
	return l, nil
}

// ReadLedger returns the session that holds each name of the ledger at path, or none if there is no
// ledger. It takes no lock, changes nothing, and ignores a line that is being written.
func ReadLedger(path string) (holder map[string]protocol.SessionID, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("journal: ledger: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	if holder, _, err = readLedger(f); err != nil {
		err = fmt.Errorf("journal: the ledger %s cannot be read: %w", path, err)
	}
	return holder, err
}

func (l *Ledger) load() error {
	var err error
	if l.holder, l.end, err = readLedger(l.file); err != nil {
		return err
	}
	if err := l.file.Truncate(l.end); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(l.file.Name()))
}

// Claim claims all names for session, or none of them. It returns when the claims are on disk.
// Names that the session holds already are fine, so that a replay may claim again. A name that
// another session holds gives a *HeldError.
func (l *Ledger) Claim(session protocol.SessionID, names ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	fresh, err := l.fresh(session, names)
	if err != nil || len(fresh) == 0 {
		return err
	}
	var lines []byte
	for _, name := range fresh {
		lines = append(lines, ledgerLine(session, name)...)
	}
	if err := l.write(lines); err != nil {
		return err
	}
	for _, name := range fresh {
		l.holder[name] = session
	}
	return nil
}

// Unclaimed returns the error that Claim would return because another session holds a name or a name
// is not valid. It claims nothing.
func (l *Ledger) Unclaimed(session protocol.SessionID, names ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.fresh(session, names)
	return err
}

// fresh returns the names that no session holds, each once. It returns an error if another session
// holds a name, or a name is not valid.
func (l *Ledger) fresh(session protocol.SessionID, names []string) ([]string, error) {
	var fresh []string
	seen := make(map[string]bool)
	for _, name := range names {
		if err := validClaim(name); err != nil {
			return nil, err
		}
		holder, held := l.holder[name]
		if held && holder != session {
			return nil, &HeldError{name, holder}
		}
		if !held && !seen[name] {
			fresh = append(fresh, name)
			seen[name] = true
		}
	}
	return fresh, nil
}

// write appends lines to the file and flushes them to the disk. If that fails the content of the
// file is unknown, and the ledger takes no more claims.
func (l *Ledger) write(lines []byte) error {
	_, err := l.file.WriteAt(lines, l.end)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.broken = fmt.Errorf("journal: ledger: %w", err)
		return l.broken
	}
	l.end += int64(len(lines))
	return nil
}

// Holder returns the session that has claimed name.
func (l *Ledger) Holder(name string) (protocol.SessionID, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := l.holder[name]
	return id, ok
}

// Close closes the ledger's file and releases its lock.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = errors.New("journal: the ledger is closed")
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("journal: ledger: %w", err)
	}
	return nil
}

func ledgerLine(session protocol.SessionID, name string) string {
	text := session.Hex() + " " + strconv.QuoteToASCII(name)
	return fmt.Sprintf("%08x %s\n", crc32.ChecksumIEEE([]byte(text)), text)
}

// maxLine is the largest length of a line in bytes. The quotation of one byte takes at most 10
// bytes.
const maxLine = 8 + 1 + 64 + 1 + 10*MaxClaimBytes + 3

// readLedger returns the claims in a ledger file and the offset at which the intact lines end.
func readLedger(r io.Reader) (holder map[string]protocol.SessionID, end int64, err error) {
	holder = make(map[string]protocol.SessionID)
	in := bufio.NewReaderSize(r, maxLine)
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		last := errors.Is(err, io.EOF)
		if err != nil && !last && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, 0, err
		}
		if last && !lacksOnlyBreak(line) {
			return holder, end, nil
		}
		session, name, ok := parseLine(string(line))
		if !ok {
			torn, err := tornLedger(line, in)
			if err != nil || torn {
				return holder, end, err
			}
			return nil, 0, fmt.Errorf("line %d is damaged, and the names in it could be used twice; no session can claim a name until the line is repaired", n)
		}
		if was, held := holder[name]; held && was != session {
			return nil, 0, fmt.Errorf("line %d: two sessions have claimed %q", n, name)
		}
		holder[name] = session
		end += int64(len(line))
	}
}

func parseLine(line string) (session protocol.SessionID, name string, ok bool) {
	fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
	if len(fields) != 3 {
		return session, "", false
	}
	id, err := hex.DecodeString(fields[1])
	if err != nil || len(id) != len(session) {
		return session, "", false
	}
	name, err = strconv.Unquote(fields[2])
	if err != nil || validClaim(name) != nil {
		return session, "", false
	}
	session = protocol.SessionID(id)
	return session, name, ledgerLine(session, name) == line
}

// tornLedger reports whether line has a zero byte and everything after it, to the end of the file, is
// zero. Some file systems leave zeros where a crash prevented a write.
func tornLedger(line []byte, rest io.Reader) (bool, error) {
	i := bytes.IndexByte(line, 0)
	if i < 0 || len(bytes.Trim(line[i:], "\x00")) > 0 {
		return false, nil
	}
	return zeros(rest)
}

// lacksOnlyBreak reports whether a line is intact except for a wrong byte in place of its line
// break. That is damage, and not the effect of a crash.
func lacksOnlyBreak(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	_, _, ok := parseLine(string(line[:len(line)-1]) + "\n")
	return ok
}
