// Package psi aligns tables whose rows have ids, by private set intersection: the
// parties find the ids that all of them hold, and end with the same order of these
// rows. No party reveals its other ids.
//
// Source: intersection by Diffie-Hellman (Meadows, "A more efficient
// cryptographic matchmaking protocol", 1986; Huberman, Franklin and Hogg,
// "Enhancing privacy and trust in electronic communities", 1999) on ristretto255
// (RFC 9496). RFC 9380 hashes ids to the group, with a different domain in each
// session. The ring with a comparer and the confirmation are ours.
//
// Party i of q parties has the secret k_i of this session. It sends an id x as
// k_i H(x), and the other parties multiply by their secrets, in any order. The first
// 16 bytes of k_1 ... k_q H(x) are the id's token. The token does not depend on the
// id's owner.
//
//	1 Announce  party -> parties   size of the set, a part of the common key; to the comparer (Count) the size
//	2 Blinded   party -> next      elements of a set, shuffled
//	3 Tokens    party -> owner     two parties: the tokens of the owner's elements, in the order in which these came
//	            party -> comparer  three or more: the tokens of a set that all have blinded, in a new order
//	4 Common    back the same way  three or more: places of the common tokens in each set, for its owner; or None
//	5 Confirm   party -> parties   an element that depends on the alignment
//	6 Proof     party -> parties   that both have the same alignment
//
// Two parties compare tokens themselves, without a server. With three or more parties
// this would reveal to each pair of parties the intersection of their two sets. So sets
// go around a ring of all parties to a comparer, the session's server, which has no key.
// Each party on the way puts the elements into a new order and undoes it for the places
// that come back. (The comparer could also send back elements, from which each party on
// the way removes its key. Elements would reveal the same to all parties, for eight times
// the bytes and a multiplication each.)
//
// A key determines the order of the common rows. Every party contributes to the key, and
// the comparer does not get it. The alignment is an HMAC-SHA256 of the rows' ids in that
// order under this key. The descriptors of later sessions hold the alignment, and a
// party whose rows give another alignment refuses them ([Align]). Before a session ends well,
// every two parties have proved to each other that their alignments are equal. So a
// party with a wrong order is named, and so is a party with invented matches. (Of two parties,
// each names the other.)
//
//	party, err := psi.NewParty(setup, params, ids)
//	// run it to its end
//	rows := party.Order()          // of this party's table, in the common order
//	alignment := party.Alignment() // for the descriptors of later sessions
//
// Half a million common rows out of a million take a party some 100 MB besides
// its ids; a step multiplies at most 2,048 elements.
//
// # Who learns what
//
// Every party learns the sizes of all sets, and which of its own ids are common
// to all. With two parties these are all matches; of ids that only some of three
// parties share, no party learns anything.
//
// The comparer learns the sizes of all sets. Because it can count equal tokens, it also
// learns the size of the intersection for each of the 2^q choices of parties. It learns no
// id and no row, and not which common row is which in later sessions.
//
// A coalition of parties learns what its members learn. All parties but one, or
// the comparer with them, can look for any ids of their choice in the remaining
// party's set, as many as they may bring. The comparer with one party learns the sizes
// of the partial intersections, but nothing about an id outside the intersection,
// unless that party's set is so small that the places of the matches distinguish its
// elements. A comparer that lies can also send that party the places of ids that it
// shares with only some others. The session then fails, because all owners must have
// the same number of common rows and the same rows, but the party has seen them. If it
// knows the common rows from an earlier session, the comparer can replace one of them
// by another without a failure.
//
// # What is not promised
//
// A party can bring ids that are not in its table, and so look for up to "max_ids"
// ids of its choice in the others' sets: no intersection can prevent this. Callers
// add up the numbers that each party has announced over sessions ([Party.Announced]).
// If there are few possible ids (all telephone numbers of a town), such a party can
// test all of them; choose "max_ids" accordingly.
//
// A party that lies about other parties' elements, drops them, or passes on
// others, makes the session fail or leaves common ids out; a comparer that lies
// can do the same. Neither can make an honest party end well with rows that it
// does not share, in their order, with every other honest party. If a party sends
// different parts of the key to others, these name each other, although neither is at
// fault.
//
// Sets that change between two sessions reveal who came and went.
package psi
