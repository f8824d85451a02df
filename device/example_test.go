package device_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"

	"github.com/mercer-fl/mercer/device"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// store keeps a device's state in memory; a real one keeps it where nobody else can read
// it.
type store struct{ state []byte }

func (s *store) Load() ([]byte, error) { return s.state, nil }
func (s *store) Save(b []byte) error   { s.state = b; return nil }

// keyOf returns a fixed key in place of one that its owner has drawn.
func keyOf(owner byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{owner}, 32))
}

func public(k ed25519.PrivateKey) ed25519.PublicKey { return k.Public().(ed25519.PublicKey) }

// published returns the configuration that a gateway publishes for a job: a model of 16
// bins, one step of 1 second, and the key with which the issuer signs tokens.
func published(gateway ed25519.PrivateKey) ([]byte, error) {
	params, err := secvm.NewParams(secvm.Spec{Name: "news", Bins: 16, Packages: 4, Cohort: 100, Radius: 10})
	if err != nil {
		return nil, err
	}
	k, err := privacypass.GenerateRSA()
	if err != nil {
		return nil, err
	}
	issuer, err := privacypass.NewRSAIssuer(k)
	if err != nil {
		return nil, err
	}
	c := secvm.Configuration{
		Params: params, Classes: [2]string{"-1", "+1"}, Testers: 0.5, Iterations: 1, Window: 1000, Grace: 100, Pause: 100,
		Issuer: "issuer.example", TokenType: uint16(privacypass.BlindRSA), TokenKeys: [][]byte{issuer.PublicKey(), issuer.PublicKey()},
		Signer: public(gateway),
	}
	return c.Sign(func(m []byte) []byte { return ed25519.Sign(gateway, m) })
}

// A device checks the job against its limits, and draws its role and sample once. A second
// process of the device continues from its store. Run then takes part over HTTP.
func Example() {
	job, err := published(keyOf(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	kept := new(store)
	config := device.Config{
		Configuration: job, // from the gateway
		Relay:         "https://relay.example/", Issuer: "https://issuer.example/",
		RelayKey: public(keyOf(2)), IssuerKey: public(keyOf(3)), // from relay and issuer themselves
		Credential: keyOf(4), Store: kept,
	}
	for _, process := range []string{"first", "second"} {
		before := bytes.Clone(kept.state)
		_, err := device.New(config, []string{"news.example", "shop.example"}, "+1")
		fmt.Printf("the %s process draws: %t, error: %v\n", process, !bytes.Equal(before, kept.state), err)
	}
	// Output:
	// the first process draws: true, error: <nil>
	// the second process draws: false, error: <nil>
}
