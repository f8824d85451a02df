// Package privacypass makes and checks tokens that show that somebody was allowed
// something, and not who: Privacy Pass, RFC 9577 (challenges and tokens) and
// RFC 9578 (issuance).
//
//	client, err := privacypass.NewClient(privacypass.BlindRSA, issuer.PublicKey())
//	request, pending, err := client.Request(challenge)
//	response, err := issuer.Issue(request) // the issuer has seen who asks
//	token, err := pending.Finish(response)
//	err = verifier.Verify(token, challenge.Digest()) // and cannot tell whose token this is
//
// # Two kinds
//
//   - [BlindRSA]: RSABSSA-SHA384-PSS-Deterministic with 2048 bits (RFC 9474). Anybody with
//     the public key can verify: for an issuer apart from the verifier.
//   - [VOPRF]: VOPRF(P-384, SHA-384) (RFC 9497). Verifying takes the issuer's secret key: for
//     an issuer that is the verifier.
//
// # Who learns what
//
//   - The issuer learns who asks for how many tokens of which kind, and when. It sees
//     neither nonce nor challenge.
//   - The verifier learns that a token came from the issuer and for which challenge.
//   - Issuer and verifier together cannot tell which request a token came from, provided that
//     many asked under the same key and challenge: a key or a challenge of one's own
//     marks one's tokens. Clients must get both from where others get them too.
//
// # Constant time
//
// Blind RSA is computed in a time that depends on sizes only, by issuers (the secret key) as by
// clients (the blinding factor, the token before it is spent). Where a number must be inverted,
// which has no such algorithm here, it is first multiplied by a random one. VOPRF is circl's, whose
// arithmetic with scalars uses math/big and takes a time that depends on them.
//
// # What is not promised
//
// A token can be spent as often as the verifier lets it be: verifiers keep the nonces.
// Tokens can be given away. When tokens are fetched and when spent may tell who is who.
package privacypass
