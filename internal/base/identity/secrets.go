package identity

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"filippo.io/age"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/regular"
)

// These are the names of the credentials with which systemd can open an identity.
const (
	CredentialIdentity   = "mercer-identity"   // the identity file itself, in place of one in the member's folder
	CredentialPassphrase = "mercer-passphrase" // the passphrase under which the identity file is sealed
)

// Secrets opens the identity of a process, also one that is sealed or a credential. The zero value opens only
// plain files.
type Secrets struct {
	// Credentials is the folder of the credentials that systemd has decrypted for this process
	// ($CREDENTIALS_DIRECTORY); "" if there is none.
	Credentials string
	// PassphraseFile is the path of a file with the passphrase; "" if there is none.
	PassphraseFile string
	// Ask asks the operator for the passphrase of the identity at path; nil if nobody can be asked.
	Ask func(path string) ([]byte, error)
}

// Open opens the identity whose file has the given path, or the credential in place of the file. The error
// matches [fs.ErrNotExist] if there is neither the file nor the credential.
func (s Secrets) Open(path string) (*Identity, error) {
	seed, _, err := s.open(path)
	if err != nil {
		return nil, err
	}
	return FromSeed(seed)
}

// open returns the seed at path, and the passphrase under which the file is sealed; nil if it is plain.
func (s Secrets) open(path string) (seed [SeedSize]byte, passphrase []byte, err error) {
	content, from, err := s.content(path)
	if err != nil {
		return seed, nil, fault.BadInputf("identity: %w", err)
	}
	defer clear(content)
	if !isSealed(content) {
		seed, err = parseSeed(content, from)
		return seed, nil, err
	}
	if passphrase, err = s.passphrase(path); err != nil {
		return seed, nil, err
	}
	content, err = unseal(content, from, passphrase)
	if err != nil {
		return seed, nil, err
	}
	defer clear(content)
	seed, err = parseSeed(content, from)
	return seed, passphrase, err
}

// content reads the credential or the file that is the identity, and returns its content and its path.
func (s Secrets) content(path string) (content []byte, from string, err error) {
	credential, ok, err := s.credential(CredentialIdentity)
	if err != nil {
		return nil, "", err
	}
	_, missing := os.Lstat(path)
	switch {
	case !ok:
		content, err = readPrivate(path)
		return content, path, err
	case missing == nil:
		return nil, "", fmt.Errorf("%s exists, although the credential %s is the identity; move one of them away", path, CredentialIdentity)
	}
	content, err = readFile(credential)
	return content, credential, err
}

// credential returns the path of a credential, and whether it exists.
func (s Secrets) credential(name string) (path string, ok bool, err error) {
	if s.Credentials == "" {
		return "", false, nil
	}
	path = filepath.Join(s.Credentials, name)
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return path, err == nil, err
}

// passphrase returns the passphrase of the identity at path: from the file, the credential or the
// operator, in this order.
func (s Secrets) passphrase(path string) ([]byte, error) {
	if s.PassphraseFile != "" {
		return ReadPassphrase(s.PassphraseFile)
	}
	credential, ok, err := s.credential(CredentialPassphrase)
	switch {
	case err != nil:
		return nil, fault.BadInputf("identity: %w", err)
	case ok:
		return ReadPassphrase(credential)
	case s.Ask == nil:
		return nil, fault.BadInputf("%s is sealed under a passphrase: start the command at a terminal, which asks for it, or give it by the systemd credential %s or by --passphrase-file FILE", path, CredentialPassphrase)
	}
	return s.Ask(path)
}

// ReadPassphrase reads a passphrase from a file that has no other line.
func ReadPassphrase(path string) ([]byte, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, fault.BadInputf("the passphrase cannot be read: %w", err)
	}
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
	switch {
	case len(b) == 0:
		return nil, fault.BadInputf("the first line of %s is empty; write the passphrase as the only line", path)
	case bytes.ContainsAny(b, "\r\n"):
		return nil, fault.BadInputf("%s has more than one line; write the passphrase as the only line", path)
	}
	return b, nil
}

// maxFile bounds the bytes of an identity file and of a passphrase. A sealed identity has about 200.
const maxFile = 4096

func readFile(path string) (b []byte, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readAll(f)
}

// readPrivate is like readFile, but returns an error if others can read or write the file.
func readPrivate(path string) (b []byte, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := private(f); err != nil {
		return nil, err
	}
	return readAll(f)
}

func readAll(f *os.File) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes; correct the path", f.Name(), maxFile)
	}
	return b, err
}

// parseSeed returns the seed that a file holds in clear.
func parseSeed(content []byte, path string) (seed [SeedSize]byte, err error) {
	switch {
	case len(content) != SeedSize:
		return seed, fault.BadInputf("identity: %s is not an identity file: it must hold exactly %d bytes, or be sealed under a passphrase; restore it from a backup", path, SeedSize)
	case [SeedSize]byte(content) == seed:
		// After a crash, some file systems leave zeros in place of a file's content.
		return seed, fault.BadInputf("identity: %s holds only zeros; remove it and create the identity again", path)
	}
	return [SeedSize]byte(content), nil
}

// ageHead begins every file of age.
const ageHead = "age-encryption.org/v1\n"

func isSealed(content []byte) bool { return bytes.HasPrefix(content, []byte(ageHead)) }

// These are the binary logarithms of scrypt's cost. A file from elsewhere could name a cost that takes
// all memory: 20 takes 1 GiB and some seconds.
const (
	workFactor    = 17 // cost of new files: 128 MiB and half a second
	maxWorkFactor = 20
)

// seal encrypts a seed under a passphrase.
func seal(seed [SeedSize]byte, passphrase []byte, cost int) ([]byte, error) {
	to, err := age.NewScryptRecipient(string(passphrase))
	if err != nil {
		return nil, err
	}
	to.SetWorkFactor(cost)
	var b bytes.Buffer
	w, err := age.Encrypt(&b, to)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(seed[:])
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}

// unseal decrypts the content of the file at path.
func unseal(content []byte, path string, passphrase []byte) ([]byte, error) {
	key, err := age.NewScryptIdentity(string(passphrase))
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	key.SetMaxWorkFactor(maxWorkFactor)
	r, err := age.Decrypt(bytes.NewReader(content), key)
	var wrong *age.NoIdentityMatchError
	if errors.As(err, &wrong) {
		return nil, fault.BadInputf("the passphrase does not open %s; try again", path)
	}
	if err == nil {
		content, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fault.BadInputf("identity: %s cannot be opened: %w; restore it from a backup", path, err)
	}
	return content, nil
}

// leastPassphrase is the least number of bytes of a new passphrase.
const leastPassphrase = 12

// Seal replaces the identity file at path by one that is sealed under the passphrase. Without a
// passphrase it replaces the file by a plain one. No copy of the former file stays in the folder: after
// a crash the file is the former or the new one, and [Recover] erases a new one that is not yet in place.
func (s Secrets) Seal(path string, passphrase []byte) error {
	if passphrase != nil && len(passphrase) < leastPassphrase {
		return fault.BadInputf("the passphrase has %d bytes; choose one of at least %d", len(passphrase), leastPassphrase)
	}
	switch _, ok, err := s.credential(CredentialIdentity); {
	case err != nil:
		return fault.BadInputf("identity: %w", err)
	case ok:
		return fault.BadInputf("the identity is the credential %s, which only systemd encrypts; move it into the home first", CredentialIdentity)
	}
	seed, _, err := s.open(path)
	if err != nil {
		return err
	}
	return store(path, seed, passphrase)
}

// store writes the identity file.
func store(path string, seed [SeedSize]byte, passphrase []byte) error {
	content := seed[:]
	if passphrase != nil {
		var err error
		if content, err = seal(seed, passphrase, workFactor); err != nil {
			return fmt.Errorf("identity: %w", err)
		}
		again, err := unseal(content, path, passphrase)
		if err == nil && !bytes.Equal(again, seed[:]) {
			err = errors.New("it holds another seed")
		}
		if err != nil {
			return fmt.Errorf("identity: %s was not changed, because the sealed identity does not open: %w", path, err)
		}
	}
	if err := disk.ReplaceSecret(path, content); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return nil
}

// Recover erases the draft that a crash has left beside the identity file at path while it was replaced.
func Recover(path string) error {
	if err := disk.EraseDraft(path); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return nil
}
