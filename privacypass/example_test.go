package privacypass_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/privacypass"
)

func Example() {
	issuer, err := privacypass.NewVOPRFIssuer([]byte("in earnest, 32 bytes at random!!"))
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := privacypass.NewClient(privacypass.VOPRF, issuer.PublicKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	challenge := privacypass.Challenge{Type: privacypass.VOPRF, Issuer: "issuer.example"}
	request, pending, err := client.Request(challenge)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := issuer.Issue(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := pending.Finish(response)
	fmt.Println(err, issuer.Verifier().Verify(token, challenge.Digest()))
	// Output: <nil> <nil>
}
