package roster

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/disk"
)

// Approvals is the path of the file that lists the rosters an operator has approved. The file has
// one line of 64 hexadecimal digits for each roster. It is read anew every time, so that a running
// daemon sees a new approval. Deleting a line takes an approval back.
type Approvals string

const approvalsHead = "# Rosters whose fingerprints this machine's operator has compared, by SHA-256.\n"

// Approved reports whether the operator has approved the roster with this hash. A missing file
// approves nothing; an unreadable one is an error.
func (a Approvals) Approved(hash [sha256.Size]byte) (bool, error) {
	_, hashes, err := a.read()
	return slices.Contains(hashes, hash), err
}

// Approve durably records an approval. If two commands approve at the same moment, one approval may
// be lost. No approval can appear that nobody gave.
func (a Approvals) Approve(hash [sha256.Size]byte) error {
	text, hashes, err := a.read()
	if err != nil || slices.Contains(hashes, hash) {
		return err
	}
	if len(text) == 0 {
		text = []byte(approvalsHead)
	}
	text = append(bytes.TrimRight(text, "\n"), "\n"+hex.EncodeToString(hash[:])+"\n"...)
	if err := disk.Replace(string(a), text); err != nil {
		return fmt.Errorf("roster: approvals: %w", err)
	}
	return nil
}

// KeepOnly takes all approvals back except that of one roster. The file keeps its comments. KeepOnly changes
// nothing if that roster is not approved.
func (a Approvals) KeepOnly(hash [sha256.Size]byte) error {
	text, hashes, err := a.read()
	if err != nil || !slices.Contains(hashes, hash) {
		return err
	}
	var kept []byte
	for line := range bytes.Lines(text) {
		own := bytes.TrimSpace(line)
		if len(own) == 0 || own[0] == '#' || strings.EqualFold(string(own), hex.EncodeToString(hash[:])) {
			kept = append(kept, line...)
		}
	}
	if err := disk.Replace(string(a), kept); err != nil {
		return fmt.Errorf("roster: approvals: %w", err)
	}
	return nil
}

func (a Approvals) read() (text []byte, hashes [][sha256.Size]byte, err error) {
	text, err = readFile(string(a))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("roster: approvals: %w", err)
	}
	if hashes, err = parseApprovals(text); err != nil {
		return nil, nil, fmt.Errorf("roster: the file of approvals %s cannot be read: %w", string(a), err)
	}
	return text, hashes, nil
}

func parseApprovals(b []byte) ([][sha256.Size]byte, error) {
	var hashes [][sha256.Size]byte
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		h, err := hex.DecodeString(line)
		if err != nil || len(h) != sha256.Size {
			return nil, fmt.Errorf("line %d: the line must have exactly %d hexadecimal digits", n, 2*sha256.Size)
		}
		hashes = append(hashes, [sha256.Size]byte(h))
	}
	return hashes, lines.Err()
}
