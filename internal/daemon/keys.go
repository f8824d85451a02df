package daemon

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
)

// keys opens the identity of one home only once, because scrypt takes a second, and so that the operator is asked for
// the passphrase once. It is safe for concurrent use.
type keys struct {
	secrets identity.Secrets

	mu sync.Mutex
	id *identity.Identity // nil until it has been opened
	at fs.FileInfo        // the file from which id was opened; nil for a credential
}

// At returns the home in a folder. Its identity must be a plain file.
func At(folder string) Home { return Home{folder, new(keys)} }

// Opening returns the same home with an identity that the given secrets can open.
func (h Home) Opening(s identity.Secrets) Home { return Home{h.folder, &keys{secrets: s}} }

// identity opens the identity of the home.
func (h Home) identity() (*identity.Identity, error) {
	h.keys.mu.Lock()
	defer h.keys.mu.Unlock()
	if h.keys.id != nil {
		return h.keys.id, nil
	}
	at, _ := os.Stat(h.IdentityPath()) // before the file is opened, so that a later change is noticed
	id, err := h.keys.secrets.Open(h.IdentityPath())
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fault.BadInputf("%s is a file, and a home is a folder; give another with --home", h)
	case errors.Is(err, fs.ErrNotExist):
		return nil, &noIdentity{fault.BadInputf("%s holds no identity; create one with mercer federation init --home %s", h, h)}
	case err != nil:
		return nil, err
	}
	h.keys.id, h.keys.at = id, at
	return id, nil
}

// forget makes the next use open the identity again.
func (k *keys) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.id, k.at = nil, nil
}

// stillOpen returns an error if the identity has been replaced since it was opened. The home must be locked, so that
// the identity cannot be replaced any more.
func (h Home) stillOpen() error {
	h.keys.mu.Lock()
	defer h.keys.mu.Unlock()
	if h.keys.id == nil {
		return nil
	}
	now, err := os.Stat(h.IdentityPath())
	switch same := err == nil && h.keys.at != nil && os.SameFile(now, h.keys.at); {
	case same, h.keys.at == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return fault.BadInputf("the identity of %s was changed at this moment; start the command again", h)
	}
}

// noIdentity is the error that a home holds no identity. It matches [fs.ErrNotExist].
type noIdentity struct{ error }

func (e *noIdentity) Is(target error) bool { return target == fs.ErrNotExist }

func (e *noIdentity) Unwrap() error { return e.error }

// Seal seals the identity of the home under a passphrase, or changes the passphrase. The home's daemon must not run.
func (h Home) Seal(passphrase []byte) error {
	return h.alone(func() error { return h.keys.secrets.Seal(h.IdentityPath(), passphrase) })
}

// Unseal makes the identity of the home a plain file. The home's daemon must not run.
func (h Home) Unseal() error {
	return h.alone(func() error { return h.keys.secrets.Seal(h.IdentityPath(), nil) })
}

// alone calls a function while the home is locked. It returns an error if a daemon runs in the home.
func (h Home) alone(do func() error) (err error) {
	if _, err := os.Stat(h.folder); err != nil {
		return fault.BadInputf("%s is no home; give another with --home", h)
	}
	lock, err := h.lockHome()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return do()
}
