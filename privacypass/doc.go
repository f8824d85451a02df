// Package privacypass implements Privacy Pass, RFC 9577 (challenges and tokens) and
// RFC 9578 (issuance). A token proves that an issuer has authorised its holder, without
// revealing the holder.
//
//	client, err := privacypass.NewClient(privacypass.BlindRSA, issuer.PublicKey())
//	request, pending, err := client.Request(challenge)
//	response, err := issuer.Issue(request) // the issuer knows the client
//	token, err := pending.Finish(response)
//	err = verifier.Verify(token, challenge.Digest()) // the verifier does not know the client
//
// # Two kinds
//
//   - [BlindRSA]: RSABSSA-SHA384-PSS-Deterministic with 2048 bits (RFC 9474). Anybody with
//     the public key can verify: for an issuer that is not the verifier.
//   - [VOPRF]: VOPRF(P-384, SHA-384) (RFC 9497). Verifying needs the issuer's secret key: for
//     an issuer that is the verifier.
//
// # Who learns what
//
//   - The issuer learns who requests how many tokens of which kind, and when. It sees
//     neither nonce nor challenge.
//   - The verifier learns that a token came from the issuer, and its challenge.
//   - Issuer and verifier together cannot link a token to its request, provided that many
//     clients requested tokens under the same key and challenge: a key or a challenge for
//     one client marks that client's tokens. Clients must get both from the same source as
//     other clients.
//
// # Constant time
//
// Blind RSA takes a time that depends on sizes only, both for issuers (the secret key) and for
// clients (the blinding factor, the token before it is spent). This package has no constant-time
// inversion, so a number is multiplied by a random one before it is inverted. VOPRF is circl's,
// whose arithmetic with scalars uses math/big and takes a time that depends on them.
//
// # What is not promised
//
// Verify accepts a token any number of times: verifiers must keep the nonces. Tokens can be
// passed to others. The times of fetching and spending can link tokens to clients.
package privacypass
