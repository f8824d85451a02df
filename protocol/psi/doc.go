// Package psi aligns tables whose rows have ids: parties find the ids that all
// of them hold, and end with the same order of these rows, without showing the
// others which other ids they have.
//
// Source: intersection by Diffie-Hellman (Meadows, "A more efficient
// cryptographic matchmaking protocol", 1986; Huberman, Franklin and Hogg,
// "Enhancing privacy and trust in electronic communities", 1999) on ristretto255
// (RFC 9496), ids being hashed to the group by RFC 9380 with a domain of their
// own in each session. The ring with a comparer and the confirmation are ours.
//
// Party i has the secret k_i of this session. An id x travels as k_i H(x); other
// parties multiply by their secrets, in any order, and k_1 ... k_q H(x) is the
// id's token, which does not depend on who brought it.
//
//	1 Announce  party -> parties   size of the set, a part of the common key; to the comparer (Count) the size
//	2 Blinded   party -> next      elements of a set, shuffled
//	3 Tokens    party -> owner     two parties: the owner's elements, blinded again, in the order in which they came
//	            party -> comparer  three or more: a set that all have blinded, in a new order
//	4 Common    back the same way  three or more: places of the common tokens in each set, for its owner; or None
//	5 Confirm   party -> parties   an element that depends on the alignment
//	6 Proof     party -> parties   that both have the same alignment
//
// Two parties compare tokens themselves and need nobody else. With three or more
// that would tell each pair its intersection; so sets go around a ring of all
// parties to a comparer, the session's server, which has no key. Each party on
// the way puts the elements into a new order and undoes it for the places that
// come back. (Sending back tokens from which each party on the way removes its
// key would tell all of them the same, for eight times the bytes and a
// multiplication each.)
//
// The common rows are put into an order by a key to which every party
// contributes and which the comparer does not get. The alignment is an
// HMAC-SHA256 of their ids in that order under this key: a later session whose
// descriptor holds it is refused by a party whose rows give another ([Align]).
// Before a session ends well, every two parties have proved to each other that
// their alignments are equal, so that a party with a wrong order is named, and
// so is one whose matches are made up.
//
//	party, err := psi.NewParty(setup, params, ids)
//	// run it to its end
//	rows := party.Order()          // of the own table, in the common order
//	alignment := party.Alignment() // for the descriptors of later sessions
//
// Half a million rows in common out of a million take a party some 100 MB beside
// its ids; a step works on 2,048 elements.
//
// # Who learns what
//
// Every party learns the sizes of all sets, and which of its own ids are common
// to all. With two parties these are all matches; of ids that only some of three
// parties share, no party learns anything.
//
// The comparer learns the sizes of all sets and, because it can count equal
// tokens, of the intersection of any of them, for all 2^q choices. It learns no
// id and no row, and not which common row is which in later sessions.
//
// A coalition of parties learns what its members learn. All parties but one, or
// the comparer with them, can look for any ids of their choice in the remaining
// party's set, as many as they may bring. The comparer with one party learns,
// beside the partial intersections' sizes, nothing about an id outside the
// intersection, as long as that party's set is not so small that its elements
// can be told apart by where they match. A comparer that lies can also send that
// party the places of ids that it shares with only some others; the session then
// fails, since all owners must have the same number of common rows and the same
// rows, but the party has seen them. Where it knows the common rows from a session
// before, one of them can give way to another without failing.
//
// # What is not promised
//
// A party can bring ids that are not in its table, and so look for up to max_ids
// ids of its choice in the others' sets: no intersection can prevent that. Callers
// add up what each has announced over sessions ([Party.Announced]). Where
// ids are few (all telephone numbers of a town), this is everything; choose
// max_ids with that in mind.
//
// A party that lies about other parties' elements, drops them, or passes on
// others, makes the session fail or leaves common ids out; a comparer that lies
// can do so too. Neither can make an honest party end well with rows that it
// does not share, in their order, with every other honest party. The named party
// can be the wrong one when a party tells others different parts of the key: they
// then name each other.
//
// Sets that change between two sessions tell who came and went.
package psi
