package device_test

import (
	"crypto/ed25519"
	"fmt"

	"github.com/mercer-fl/mercer/device"
)

// store keeps a device's state in memory; a real one keeps it where nobody else
// reads.
type store struct{ state []byte }

func (s *store) Load() ([]byte, error) { return s.state, nil }
func (s *store) Save(b []byte) error   { s.state = b; return nil }

func Example() {
	_, credential, err := ed25519.GenerateKey(nil) // the issuer knows the public half
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = device.New(device.Config{
		Configuration: nil, // what the gateway has published
		Relay:         "https://relay.example/", Issuer: "https://issuer.example/",
		RelayKey: nil, IssuerKey: nil, // which relay and issuer have published
		Credential: credential, Store: &store{},
	}, []string{"news.example", "shop.example"}, "+1")
	fmt.Println(err)
	// Output: device: secvm: configuration: the bytes end too early
}
