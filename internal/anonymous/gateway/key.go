package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// keyID is the identifier of every window's key: a property that tells keys apart must not
// tell requests apart.
const keyID = 1

// keyPath returns the path of the seed of a window's key, by the window's place in the
// history.
func (g *Gateway) keyPath(place int) string { return g.path("key-" + strconv.Itoa(place)) }

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

// pad gives all answers one size.
func pad(size int) int { return max(size, answerSize) }

// serve answers a request that was sealed.
func (g *Gateway) serve(ctx context.Context, q *bhttp.Request) *bhttp.Response {
	switch {
	case q.Path != secvm.PackagePath:
		return &bhttp.Response{Status: http.StatusNotFound}
	case q.Method != http.MethodPost:
		return &bhttp.Response{Status: http.StatusMethodNotAllowed}
	}
	o := g.admit(ctx, q.Content)
	g.metrics.packages[o].Inc()
	return &bhttp.Response{Status: o.status}
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

// answerSize is the length to which the answers to packages are padded.
const answerSize = 32
