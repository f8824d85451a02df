package bench

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"net/http"

	"github.com/mercer-fl/mercer/internal/anonymous/issuer"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// letter is a package with its token, sealed, and the opener of its answer.
type letter struct {
	sealed []byte
	answer *ohttp.Opener
}

// seal seals a package for each token.
func (g *postedGateway) seal(ctx context.Context) ([]letter, error) {
	letters, errs := make([]letter, len(g.tokens)), make([]error, len(g.tokens))
	linalg.For(len(g.tokens), 16, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			letters[i], errs[i] = sealFor(g.key, g.configuration, g.tokens[i], i)
		}
	})
	return letters, errors.Join(ctx.Err(), errors.Join(errs...))
}

// sealFor seals the i-th package as a device does.
func sealFor(key ohttp.KeyConfig, c *secvm.Configuration, t *privacypass.Token, i int) (letter, error) {
	spent := secvm.Spent{Token: t.Encode(), Package: trainingPackage(c.Params, i)}
	q := &bhttp.Request{Method: http.MethodPost, Scheme: "https", Authority: "gateway", Path: secvm.PackagePath, Content: spent.Encode()}
	message, err := q.EncodeTo(secvm.RequestSize)
	if err != nil {
		return letter{}, err
	}
	sealed, answer, err := key.Encapsulate(message)
	return letter{sealed, answer}, err
}

// trainingPackage is the i-th package of iteration 0: units of all features in turn.
func trainingPackage(p secvm.Params, i int) secvm.Package {
	return secvm.Package{Tag: p.Tag(), Kind: secvm.Training, Index: uint32(i % p.Features()), Value: int8(1 - 2*(i%2))}
}

// mintRSA signs tokens with the issuer's key, and not blindly, which would take three times
// as long: both ways give equal tokens.
func (g *postedGateway) mintRSA(key *rsa.PrivateKey, public []byte) error {
	c, errs := g.challenge(), make([]error, len(g.tokens))
	linalg.Each(len(g.tokens), 4, func(i int) {
		t := &privacypass.Token{Type: c.Type, Nonce: seedOf("nonce", i), Challenge: c.Digest(), Key: sha256.Sum256(public)}
		digest := sha512.Sum384(t.Input())
		t.Authenticator, errs[i] = rsa.SignPSS(rand.Reader, key, crypto.SHA384, digest[:], &rsa.PSSOptions{SaltLength: crypto.SHA384.Size()})
		g.tokens[i] = t
	})
	return errors.Join(errs...)
}

// mintVOPRF fetches tokens, as a device does.
func (g *postedGateway) mintVOPRF(i *issuer.Issuer, device ed25519.PublicKey) error {
	c, n := g.challenge(), len(g.tokens)
	client, err := privacypass.NewClient(c.Type, i.Public().Keys[0])
	if err != nil {
		return err
	}
	pending := make([]*privacypass.Pending, n)
	q := secvm.TokenRequest{Device: device, Blinded: make([][]byte, n)}
	for k := range pending {
		if q.Blinded[k], pending[k], err = client.Request(c); err != nil {
			return err
		}
	}
	answer, err := i.Give(context.Background(), q)
	if err != nil {
		return err
	}
	size := len(answer) / n
	for k, p := range pending {
		if g.tokens[k], err = p.Finish(answer[k*size:][:size]); err != nil {
			return err
		}
	}
	return nil
}
