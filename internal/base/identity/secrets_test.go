package identity

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

const passphrase = "correct horse battery staple"

// quickly seals a seed at little cost, for tests of what opens it.
func quickly(t *testing.T, seed [SeedSize]byte) []byte {
	t.Helper()
	b, err := seal(seed, []byte(passphrase), 10)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The passphrase comes from the flag's file, else from the credential, else from the operator.
func TestPassphraseOpens(t *testing.T) {
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "identity"), quickly(t, seedOf(1)))
	right, wrong := write(t, filepath.Join(dir, "right"), []byte(passphrase+"\r\n")), write(t, filepath.Join(dir, "wrong"), []byte("wrong"))
	good, bad := t.TempDir(), t.TempDir()
	write(t, filepath.Join(good, CredentialPassphrase), []byte(passphrase+"\n"))
	write(t, filepath.Join(bad, CredentialPassphrase), []byte("wrong"))
	answer := func(text string) func(string) ([]byte, error) {
		return func(asked string) ([]byte, error) {
			if asked != path {
				t.Errorf("asked about %s", asked)
			}
			return []byte(text), nil
		}
	}
	for name, c := range map[string]struct {
		secrets Secrets
		want    string // "": it opens
	}{
		"file":                {Secrets{PassphraseFile: right}, ""},
		"file, not the rest":  {Secrets{PassphraseFile: right, Credentials: bad, Ask: answer("wrong")}, ""},
		"credential":          {Secrets{Credentials: good}, ""},
		"credential, not ask": {Secrets{Credentials: good, Ask: answer("wrong")}, ""},
		"ask":                 {Secrets{Credentials: dir, Ask: answer(passphrase)}, ""},
		"wrong file":          {Secrets{PassphraseFile: wrong, Credentials: good}, "the passphrase does not open " + path + "; try again"},
		"wrong credential":    {Secrets{Credentials: bad}, "the passphrase does not open"},
		"wrong answer":        {Secrets{Ask: answer("wrong")}, "the passphrase does not open"},
		"no file":             {Secrets{PassphraseFile: filepath.Join(dir, "absent")}, "does not exist"},
		"nobody":              {Secrets{}, "start the command at a terminal, which asks for it, or give it by the systemd credential mercer-passphrase"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := c.secrets.Open(path)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || fault.CodeOf(err) != fault.CodeBadInput || strings.Contains(err.Error(), passphrase) {
					t.Fatalf("%v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(mustFromSeed(t, seedOf(1)).Public(), id.Public()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A credential is the identity, in clear or sealed, and a home that holds one as well is refused.
func TestCredentialIsTheIdentity(t *testing.T) {
	home, seed := t.TempDir(), seedOf(3)
	path := filepath.Join(home, "identity")
	for name, content := range map[string][]byte{"plain": seed[:], "sealed": quickly(t, seed)} {
		credentials := t.TempDir()
		write(t, filepath.Join(credentials, CredentialIdentity), content)
		write(t, filepath.Join(credentials, CredentialPassphrase), []byte(passphrase))
		if err := os.Chmod(filepath.Join(credentials, CredentialIdentity), 0o440); err != nil { // as systemd does
			t.Fatal(err)
		}
		s := Secrets{Credentials: credentials}
		id, err := s.Open(path)
		if err != nil || id.Public().Fingerprint() != mustFromSeed(t, seed).Public().Fingerprint() {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.Seal(path, []byte(passphrase)); err == nil || !strings.Contains(err.Error(), "only systemd encrypts") {
			t.Errorf("%s: %v", name, err)
		}
		write(t, path, seed[:])
		if _, err := s.Open(path); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "move one of them away") {
			t.Errorf("%s: both: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (Secrets{Credentials: t.TempDir()}).Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("neither: %v", err)
	}
}

// Seal, another passphrase and no passphrase keep the identity. The folder never holds a second copy of
// the seed, and neither do the blocks of the former file.
func TestSealAndUnseal(t *testing.T) {
	dir, seed := t.TempDir(), seedOf(5)
	path := filepath.Join(dir, "identity")
	id, err := Create(path, seed)
	if err != nil {
		t.Fatal(err)
	}
	blocks := filepath.Join(t.TempDir(), "blocks") // a second name of the former file's blocks
	if err := os.Link(path, blocks); err != nil {
		t.Fatal(err)
	}
	write(t, path+".new", seed[:]) // a crash left it
	if err := (Secrets{}).Seal(path, []byte(passphrase)); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(blocks); err != nil || bytes.Contains(b, seed[:8]) {
		t.Errorf("the former file's blocks hold the seed, %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder holds %v, %v", entries, err)
	}
	info, err := os.Stat(path)
	if b, _ := os.ReadFile(path); err != nil || info.Mode().Perm() != 0o600 || !bytes.HasPrefix(b, []byte(ageHead)) || bytes.Contains(b, seed[:8]) {
		t.Fatalf("%v, %v: %q", info.Mode(), err, b)
	}
	by := Secrets{Ask: func(string) ([]byte, error) { return []byte(passphrase), nil }}
	if err := by.Seal(path, []byte("too short")); err == nil || !strings.Contains(err.Error(), "at least 12") {
		t.Errorf("a short passphrase: %v", err)
	}
	if err := (Secrets{}).Seal(path, nil); err == nil || !strings.Contains(err.Error(), "start the command at a terminal") {
		t.Errorf("without the passphrase: %v", err)
	}
	if err := by.Seal(path, nil); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil || again.Public().Fingerprint() != id.Public().Fingerprint() {
		t.Errorf("the identity has changed: %v", err)
	}
}

// A file from elsewhere cannot take all memory, and what is damaged is refused in a sentence.
func TestSealedFileFromElsewhere(t *testing.T) {
	good := quickly(t, seedOf(7))
	costly := bytes.Replace(good, []byte(" 10\n"), []byte(" 21\n"), 1)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-1] ^= 1
	empty, err := seal(seedOf(0), []byte(passphrase), 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"cost":      {costly, "work factor too large"},
		"flipped":   {flipped, "cannot be opened"},
		"cut":       {good[:len(good)-1], "cannot be opened"},
		"head only": {[]byte(ageHead), "cannot be opened"},
		"large":     {append(bytes.Clone(empty), make([]byte, maxFile)...), "more than 4096 bytes"},
	} {
		path := write(t, filepath.Join(t.TempDir(), "identity"), c.content)
		_, err := (Secrets{Ask: func(string) ([]byte, error) { return []byte(passphrase), nil }}).Open(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || fault.CodeOf(err) != fault.CodeBadInput {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The passphrase is the only line of its file.
func TestReadPassphrase(t *testing.T) {
	for content, ok := range map[string]bool{"one line": true, "one line\n": true, "": false, "\n": false, "two\nlines\n": false, "line\n\n": false} {
		b, err := ReadPassphrase(write(t, filepath.Join(t.TempDir(), "passphrase"), []byte(content)))
		if (err == nil) != ok || ok && string(b) != "one line" {
			t.Errorf("%q: %q, %v", content, b, err)
		}
	}
}
