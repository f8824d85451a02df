// Package roster is the list of a federation's members: names, roles and
// public keys. Its hash stands in every session's descriptor, so a session
// runs among exactly the keys that each operator has approved.
//
//	r, err := roster.Load("roster.yaml")
//	if err != nil {
//		return err
//	}
//	ok, err := roster.Approvals("approved").Approved(r.Hash())
//
// The file is YAML for people; what is hashed is a canonical encoding of the
// content, the same whatever the order of members, the comments and the layout.
//
// Promised: a roster that Load returns is valid: every name, signing key, KEM
// key and nkey occurs once, keys parse, and one member is the coordinator.
//
// Not promised: that the keys belong to whom they claim. Operators compare
// fingerprints by other means and then approve the hash; one sock puppet among
// the members of an OKRA session reads every party's rows.
package roster
