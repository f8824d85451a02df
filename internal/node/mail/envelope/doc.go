// Package envelope seals and signs messages from end to end. The broker between the members sees
// who sends how much and when, and never the content.
//
// On the wire, with H the canonical encoding of the message's header:
//
//	uint16 length of H || H || sealed || signature
//	sealed    = HPKE single shot (RFC 9180 base mode), info = H, no aad:
//	            ML-KEM-768 + X25519, HKDF-SHA256, AES-256-GCM
//	signature = Ed25519 over "mercer/v1/msg" || H || SHA-256(sealed)
//
// Every Seal draws a fresh encapsulation, so a message that is sent twice has two different envelopes;
// receivers recognise duplicates by the header.
//
// A receiver checks in this order: size, sender in the roster, signature, receiver
// ([Verify]); then it picks the key of the session that the header names and
// decrypts ([Verified.Open]). The code that runs the session checks session and
// protocol in the verified header, and then round, duplicate and body.
//
//	v, err := envelope.Verify(wire, roster.SigningKey, "north")
//	if err != nil {
//		return err // blames the transport: anyone could have sent this
//	}
//	m, err := v.Open(keys[v.Header.Session])
//	if err != nil {
//		return err // blames v.Header.Sender, who signed it, unless the key is missing
//	}
//
// Promised: no member is blamed for bytes that it has not signed. Bytes that do not verify, and genuine
// messages that a broker delivers to the wrong member, blame [protocol.Transport].
//
// Not promised: HPKE's base mode is not forward secret; that comes from
// destroying the session's key with the session. Headers, sizes and times are
// in clear.
package envelope
