// Package invitation lets a process ask to become a member of a federation.
//
// The coordinator's operator makes an invitation for one name ([Folder.Put]) and gives its text
// ([Token]) to the newcomer's operator. The newcomer's process sends its public keys with a signature
// ([Sign]). The invitation then belongs to these keys, and no others can claim it. The coordinator's
// operator compares the fingerprint with the newcomer's, and adds the member to the roster. Only then does
// the newcomer receive the roster ([Answer]).
//
//	err := folder.Put(invitation.Invitation{Name: name, Key: key, Created: now, Expires: end}) // at the coordinator
//	text := invitation.NewToken(token, secret).Encode()                                        // key belongs to secret
//	...
//	t, err := invitation.Parse(text) // at the newcomer
//	claim, err := invitation.Sign(id, member, key) // key belongs to t.Secret()
//
// Whoever claims an invitation has its secret and the keys that it sends. The coordinator stores
// only the public key of the secret. An invitation that has expired is gone for good, whatever the clock
// says later.
//
// Not promised: that the newcomer is whom the operator has invited. Whoever steals the text before it is
// used can claim the invitation, and the invited process is then refused. Only the comparison of
// fingerprints shows who has claimed it.
package invitation
