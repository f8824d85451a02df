// Package secureboost lets parties that hold different columns of the same rows train boosted
// trees. The guest has the labels and chooses the splits. The hosts add up the guest's gradients
// over the bins of the hosts' columns.
//
// Source: Cheng, Fan, Jin, Liu, Chen, Papadopoulos, Yang, "SecureBoost: a lossless
// federated learning framework", IEEE Intelligent Systems 2021, Algorithms 1 and 2.
// Packing of gradients and of sums follows Chen et al., "SecureBoost+", 2021.
//
// Rounds:
//
//	1 Key        guest -> host   modulus of a Paillier key, and a proof about it (encryption paillier)
//	1 Shape      host -> guest   how many bins each of the host's columns has
//	then for each tree:
//	2 Gradients  guest -> host   gradient and second derivative of each training row
//	and for each level of the tree:
//	3 Sums       host -> guest   sums over each bin but the first, for the root or one of each pair of children
//	4 Choose     guest -> host   the host's own columns and bins at which nodes are split
//	5 Bits       host -> guest   which rows of these nodes go left
//	6 Divide     guest -> host   which rows of each node go left
//	at last:
//	7 Finish     guest -> host   no more trees; all end
//
// For the two children of a node, a host sends the sums of the child with fewer training rows, or of
// the left child if both have as many. The guest computes the sums of the other child by subtraction
// from the parent's sums, and the sums of first bins by subtraction from the node's total. The last
// level, and a level without a split, has no Divide.
//
// The caller supplies the decisions, from gradients to leaves, as a [Learner], such as
// boost.Booster of package learn/boost:
//
//	params, err := secureboost.NewParams(secureboost.Spec{Rows: n, Training: m, Rounds: 50, Depth: 3})
//	guest, err := secureboost.NewGuest(setup, input, booster) // the session's descriptor holds params.Encode()
//	// elsewhere
//	host, err := secureboost.NewHost(setup, input)
//	// a runner calls Step until all have ended; then
//	splits := host.Splits() // the host's part of the trees
//
// # Exact sums
//
// Gradients are whole numbers, so sums are exact and encryption changes nothing: with
// and without it the trees equal the trees of the same training in one place.
//
// A row is one plaintext, g 2^48 + h. Sums over fewer than 2^20 rows with |g| and h up to 2^24 stay
// below 2^44. A host shifts sums by multiples of 96 bits and adds them, so one ciphertext of 4,096
// bits carries the sums of 21 bins. It blinds the ciphertext by its own encryption of 0 before
// sending it: the product of ciphertexts alone would reveal to the guest which rows are in it,
// since the guest knows their randomness. With its key the guest sends a proof that this hides
// everything but the sums; see internal/crypto/paillier.
//
// # What is checked
//
// Bounds and lengths of everything. A host's sums of second derivatives must be between 0 and the
// node's total, for every column and node. The rows that a host sends left must have the sums that
// it reported before; a host that sends others is named. A ciphertext must be a unit modulo n^2.
//
// # Who learns what
//
//   - Encryption none: each host learns every training row's gradients. With two classes, a
//     gradient of the first tree has one of two values, which are the labels.
//   - Encryption paillier: a host learns no gradient.
//   - In both, a host learns which rows are together in each node of each level, and in the
//     leaves below the last level that its own columns make: rows of one node have similar
//     labels. It learns the number of trees, which of its own columns were used, and where they
//     were cut.
//   - The guest learns, for each node of each level and each bin of each host's column, the
//     sums of gradients. In the first tree, where all second derivatives are equal, they give
//     the number of rows in the bin. It learns which rows of a node go left if a host's column
//     splits it. It does not learn a column's name or values.
//   - A dishonest guest reads the bins of all rows in every column: with 2^i in the ciphertext of
//     row i, a sum shows which of 96 rows are in it. It can also split nodes anywhere.
//   - Two hosts together learn no more than each of them. A host together with the guest learns
//     the knowledge of both.
//
// # What is not promised
//
// That a guest's gradients are gradients. Parties are assumed to follow the protocol, but to be
// curious. A host's sums and cuts cannot be verified. Time on the guest's machine depends on its
// key; see internal/crypto/paillier.
package secureboost
