// Package roster reads the list of a federation's members: names, roles and public keys. The hash of its
// part that a job needs ([Roster.Subset]) is in the descriptors of the job's sessions, so they run among
// exactly the keys that each operator has approved.
//
//	r, err := roster.Load("roster.yaml")
//	if err != nil {
//		return err
//	}
//	ok, err := roster.Approvals("approved").Approved(r.Hash())
//
// The file is YAML for people; the hash covers a canonical encoding of the
// content, which does not depend on the order of members, the comments or the layout.
//
// Promised: a roster that Load returns is valid: every name, signing key, KEM key and nkey occurs once,
// keys parse, and one member is the coordinator.
//
// Not promised: that the keys belong to the members they name. Operators compare fingerprints outside
// this program and then approve the hash; one sock puppet among the members of an OKRA session reads
// every party's rows.
package roster
