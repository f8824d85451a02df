//go:build slow

package demo_test

import (
	"bytes"
	"crypto/ed25519"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mercer-fl/mercer/internal/anonymous/simulator"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// The attacks of an onlooker with the content of the processes' homes.

// client returns a client that seals to the last window's key.
func (o *onlooker) client() *ohttp.Client {
	o.t.Helper()
	c := o.history()
	key, err := ohttp.ParseKeyConfig(c[len(c)-1].Key[:])
	check(o.t, err)
	return &ohttp.Client{Relay: o.devices.URL(demo.Relay), Config: key, Size: secvm.RequestSize, HTTP: o.http}
}

// post sends a content as a package, sealed by sealing, and returns the status of the
// answer; 0 if there was none. It is safe for concurrent use.
func (o *onlooker) post(content []byte) int {
	r, err := o.sealing.Do(o.t.Context(), &bhttp.Request{Method: http.MethodPost, Scheme: "https", Authority: "gateway", Path: secvm.PackagePath, Content: content})
	if err != nil {
		o.t.Errorf("a package: %v", err)
		return 0
	}
	return r.Status
}

// tokens returns all tokens of devices, by iteration and row, from their homes.
func (o *onlooker) tokens() map[uint32]map[int][]*privacypass.Token {
	o.t.Helper()
	files, err := filepath.Glob(filepath.Join(o.devices.Dir, "devices*", "devices", "*"))
	check(o.t, err)
	size := privacypass.Type(o.configuration.TokenType).Size()
	all := map[uint32]map[int][]*privacypass.Token{}
	for iteration := range uint32(len(o.configuration.TokenKeys)) {
		all[iteration] = map[int][]*privacypass.Token{}
		digest := o.configuration.PackageToken(iteration).Digest()
		for _, file := range files {
			row, err := strconv.Atoi(filepath.Base(file))
			check(o.t, err)
			b, err := os.ReadFile(file)
			check(o.t, err)
			const before = 2 + 32 // kind and nonce
			for at := bytes.Index(b, digest[:]); at >= before; at = bytes.Index(b, digest[:]) {
				t, err := privacypass.ParseToken(b[at-before:][:size])
				check(o.t, err)
				all[iteration][row] = append(all[iteration][row], t)
				b = b[at-before+size:]
			}
		}
	}
	return all
}

// askAgain requests other tokens from the issuer than a device has had, and returns the
// status of the answer; 0 if there was none. It is safe for concurrent use.
func (o *onlooker) askAgain(process string, row int, iteration uint32) int {
	status, err := o.ask(process, row, iteration)
	if err != nil {
		o.t.Errorf("tokens: %v", err)
	}
	return status
}

func (o *onlooker) ask(process string, row int, iteration uint32) (int, error) {
	c, err := privacypass.NewClient(privacypass.Type(o.configuration.TokenType), o.configuration.TokenKeys[iteration])
	if err != nil {
		return 0, err
	}
	id, err := identity.Load(daemon.At(filepath.Join(o.devices.Dir, process)).IdentityPath())
	if err != nil {
		return 0, err
	}
	key := simulator.Credential(id, row)
	q := secvm.TokenRequest{Device: key.Public().(ed25519.PublicKey), Iteration: iteration}
	for range o.configuration.Params.Tokens() {
		blinded, _, err := c.Request(o.configuration.PackageToken(iteration))
		if err != nil {
			return 0, err
		}
		q.Blinded = append(q.Blinded, blinded)
	}
	signer := request.Signer{Purpose: secvm.TokenPurpose, Of: o.configuration.TokenKeys[iteration]}
	signed, err := signer.Post(o.t.Context(), o.devices.URL(demo.Issuer)+"?"+q.Query(), key, q.Body())
	if err != nil {
		return 0, err
	}
	r, err := o.http.Do(signed)
	if err != nil {
		return 0, err
	}
	return r.StatusCode, r.Body.Close()
}
