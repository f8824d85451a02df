package issuer

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/privacypass"
)

// rsaKeys opens, or draws, a key for each iteration.
func rsaKeys(folder string, n int) ([]privacypass.Issuer, error) {
	if err := disk.MakeDir(folder); err != nil {
		return nil, err
	}
	keys := make([]privacypass.Issuer, n)
	for i := range keys {
		k, err := rsaKey(filepath.Join(folder, strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		keys[i] = k
	}
	return keys, nil
}

func rsaKey(path string) (*privacypass.RSAIssuer, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		k, err := privacypass.GenerateRSA()
		if err != nil {
			return nil, err
		}
		if err := disk.Create(path, x509.MarshalPKCS1PrivateKey(k)); err != nil {
			return nil, err
		}
		return privacypass.NewRSAIssuer(k)
	}
	if err != nil {
		return nil, fmt.Errorf("issuer: %w", err)
	}
	k, err := x509.ParsePKCS1PrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("issuer: %s holds no RSA key; if no token of it is in use, remove it", path)
	}
	return privacypass.NewRSAIssuer(k)
}

// Public holds the facts that a gateway needs of an issuer: its name and its keys.
type Public struct {
	Name string
	Type privacypass.Type
	Keys [][]byte // for each iteration
}

const (
	publicMagic = "mercer/v1/issuer"
	maxKeys     = 1 << 14
	maxKey      = 1 << 10
	maxName     = 256
)

// Encode returns the bytes of a file for the gateway.
func (p Public) Encode() []byte {
	var w wire.Writer
	w.String(publicMagic)
	w.String(p.Name)
	w.Uint16(uint16(p.Type))
	w.Uint32(uint32(len(p.Keys)))
	for _, k := range p.Keys {
		w.Bytes32(k)
	}
	return w.Bytes()
}

// DecodePublic reads what Encode writes.
func DecodePublic(b []byte) (Public, error) {
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != publicMagic {
		r.Fail(errors.New("this is no file of an issuer's keys"))
	}
	p := Public{Name: r.String(maxName), Type: privacypass.Type(r.Uint16())}
	p.Keys = make([][]byte, r.Count(maxKeys, 4))
	for i := range p.Keys {
		p.Keys[i] = r.Bytes32(maxKey)
	}
	return p, r.Close("issuer: public keys")
}
