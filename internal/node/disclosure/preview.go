package disclosure

import (
	"errors"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/method"
)

// Preview answers for a ledger, and records nothing. An operator asks it whether a job would be
// admitted. It creates at most the ledger's lock file.
type Preview struct{ ledger Ledger }

// Preview returns the ledger's preview.
func (l Ledger) Preview() Preview { return Preview{l} }

// Admit returns what [Ledger.Admit] would return.
func (p Preview) Admit(_ Asker, r method.Release, maxDirections int) (id string, err error) {
	err = p.read(func() error {
		key, err := p.ledger.storedKey()
		if err != nil {
			return err
		}
		if key == nil { // an empty ledger has nothing to compare with
			key = make([]byte, keyBytes)
		}
		e, err := entryOf(key, r)
		if err != nil {
			return err
		}
		id = e.ID()
		space, err := scratch.New(os.TempDir()) // the ledger's folder may be missing
		if err != nil {
			return err
		}
		_, err = p.ledger.judge(e, id, maxDirections, space)
		return errors.Join(err, space.Close())
	})
	return id, err
}

// Expect returns what [Ledger.Expect] would return.
func (p Preview) Expect(session string, peers []string, most, total int) error {
	return p.read(func() error {
		b, err := p.ledger.readBook()
		if err != nil {
			return err
		}
		return b.expect(session, peers, most, total)
	})
}

// read runs do while no other process changes the ledger.
func (p Preview) read(do func() error) error {
	if _, err := os.Stat(string(p.ledger)); errors.Is(err, fs.ErrNotExist) {
		return do()
	}
	return p.ledger.locked(do)
}
