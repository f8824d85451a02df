package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/daemon"
)

// at returns the home in a folder. It opens a sealed identity by a systemd credential, by the flag
// --passphrase-file, or by asking at the terminal.
func (a *app) at(folder string) daemon.Home {
	s := identity.Secrets{Credentials: a.env("CREDENTIALS_DIRECTORY"), PassphraseFile: a.passphraseFile}
	if a.asks() {
		s.Ask = func(path string) ([]byte, error) { return a.readHidden("Passphrase of " + path + ": ") }
	}
	return daemon.At(folder).Opening(s)
}

// asks reports whether an operator can be asked at a terminal.
func (a *app) asks() bool {
	f, ok := a.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readHidden reads a line from the terminal without showing it. A signal restores the terminal before the
// command ends.
func (a *app) readHidden(prompt string) ([]byte, error) {
	fd := int(a.stdin.(*os.File).Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, fmt.Errorf("the terminal cannot be used: %w", err)
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(stop)
	type answer struct {
		line []byte
		err  error
	}
	read := make(chan answer, 1)
	_, _ = fmt.Fprint(a.stderr, prompt)
	go func() {
		line, err := term.ReadPassword(fd)
		read <- answer{line, err}
	}()
	defer a.tell("") // ends the line of the prompt
	select {
	case got := <-read:
		if got.err != nil {
			return nil, usage("no passphrase was given: %w", got.err)
		}
		return got.line, nil
	case <-stop:
		return nil, errors.Join(context.Canceled, term.Restore(fd, before))
	}
}

// sealedHome reports how the identity of a home is stored.
type sealedHome struct {
	Path   string `json:"path"`
	Sealed bool   `json:"sealed"` // under a passphrase
}

// Print tells the operator how daemons open the identity from now on.
func (r sealedHome) Print(w io.Writer) error {
	if !r.Sealed {
		return linef(w, "%s: in clear; everybody who can read the file can act as this member", r.Path)
	}
	return linef(w, "%s: sealed under the passphrase; a daemon asks for it at its terminal, or takes the systemd credential %s", r.Path, identity.CredentialPassphrase)
}

func (a *app) federationPassphrase() *cobra.Command {
	var home, file string
	var remove bool
	cmd := &cobra.Command{
		Use:   "passphrase",
		Short: "Seal a home's identity under a passphrase, or take the passphrase away",
		Long: `Seal the file identity of a home under a passphrase, by age (scrypt). Commands and
daemons that need the identity ask for the passphrase at their terminal. Without a
terminal they take it from --passphrase-file FILE, which may be /dev/fd/N, or from the
systemd credential mercer-passphrase. If systemd gives the credential mercer-identity,
this is the identity, and the home holds none. Stop the daemon first. A lost passphrase
cannot be replaced: the member then needs a new identity.`,
		Example: `  mercer federation passphrase --home ./north
  mercer federation passphrase --home ./north --new-passphrase-file /dev/fd/3
  mercer federation passphrase --home ./north --remove`,
		Args: args(),
		RunE: a.run(func(context.Context, []string) (Result, error) {
			h := a.at(home)
			if remove && file != "" {
				return nil, usage("--remove takes the passphrase away and --new-passphrase-file sets one; give one of the two")
			}
			if remove {
				return sealedHome{h.IdentityPath(), false}, h.Unseal()
			}
			passphrase, err := a.newPassphrase(file)
			if err != nil {
				return nil, err
			}
			return sealedHome{h.IdentityPath(), true}, h.Seal(passphrase)
		}),
	}
	a.homeFlag(cmd, &home)
	cmd.Flags().StringVar(&file, "new-passphrase-file", "", "file with the new passphrase as its only line; without it the command asks")
	cmd.Flags().BoolVar(&remove, "remove", false, "take the passphrase away: store the identity in clear")
	return cmd
}

// newPassphrase reads a new passphrase from a file, or twice from the terminal.
func (a *app) newPassphrase(file string) ([]byte, error) {
	if file != "" {
		return identity.ReadPassphrase(file)
	}
	if !a.asks() {
		return nil, usage("there is no terminal to ask for the new passphrase; give it with --new-passphrase-file FILE")
	}
	first, err := a.readHidden("New passphrase: ")
	if err != nil {
		return nil, err
	}
	again, err := a.readHidden("New passphrase again: ")
	if err == nil && !bytes.Equal(first, again) {
		err = usage("the two passphrases differ; nothing was changed")
	}
	return first, err
}
