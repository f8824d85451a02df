package gateway

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// keyID is the identifier of every window's key: a property that tells keys apart must not
// tell requests apart.
const keyID = 1

// keyPath returns the path of the seed of a window's key, by the window's place in the
// history.
func (g *Gateway) keyPath(place int) string { return g.path("key-" + strconv.Itoa(place)) }

// drawKey draws the key of a window that is to be announced, and leaves its seed on
// disk, so that a gateway that is killed in the window can go on. It follows from
// nothing else, and is erased when the window is over.
func (g *Gateway) drawKey(place int) (public [secvm.KeySize]byte, err error) {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return public, fmt.Errorf("gateway: %w", err)
	}
	key, err := ohttp.NewKey(keyID, seed[:])
	if err != nil {
		return public, err
	}
	copy(public[:], key.Config().Encode())
	return public, disk.Replace(g.keyPath(place), seed[:])
}

// openInbox takes what is sealed for the last window's key.
func (g *Gateway) openInbox() error {
	place := len(g.chain) - 1
	seed, err := os.ReadFile(g.keyPath(place))
	if err != nil {
		return fmt.Errorf("gateway: the key of the window is lost: %w", err)
	}
	key, err := ohttp.NewKey(keyID, seed)
	if err != nil {
		return err
	}
	if public := [secvm.KeySize]byte(key.Config().Encode()); public != g.chain[place].Key {
		return fmt.Errorf("gateway: %s is not the key that was announced", g.keyPath(place))
	}
	g.inbox.Store(&ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: g.serve, Pad: pad, Limit: secvm.RequestSize + ohttp.Overhead})
	return nil
}

// eraseKeys erases the keys of all windows but one; -1 for all of them.
func (g *Gateway) eraseKeys(except int) error {
	files, err := filepath.Glob(g.path("key-*"))
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	var errs error
	for _, f := range files {
		if f == g.keyPath(except) {
			continue
		}
		if err := disk.Erase(f); !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}
