// Package okra is a one-shot protocol for exact kernel machines over the rows of several parties
// that hold the same features of different people. Each party encodes its rows by a common secret
// isometry, and a server multiplies the encoded rows into the linear Gram matrix of all rows.
//
// Source: Hannemann, Swaminathan, Uenal, Akguen, "Private, Efficient and Scalable Kernel Learning
// for Medical Image Analysis" (OKRA), arXiv 2410.15840: section 3.2.2 for the seed, 3.2.3 for the
// encoding, Theorem 3.1 for the kernels. Mode paper is its encoder, or with encoder flake that of the
// protocol FLAKE. The encoders hadamard (the default), haar and hbh are Mercer's, because the paper's
// is not secure; see below.
//
// Rounds of a training session:
//
//	1 Seed      leader -> parties   the epoch's seed, sealed end to end; never to the server
//	2 Announce  party  -> server    rows and width to come; a tag that is equal for equal settings
//	  Grant     server -> parties   all announcements agree: parties can send rows
//	3 Rows      party  -> server    encoded rows, labels, held-out flags; in chunks
//	4 Receipt   server -> parties   the total number of rows; all end
//
// A party and a server:
//
//	params, err := okra.NewParams(okra.Spec{Encoder: okra.Haar})
//	descriptor := protocol.Descriptor{Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: members}
//	session, err := protocol.NewSession(descriptor)
//	party, err := okra.NewParty(protocol.Setup{Session: session, Self: "north", Seed: seed}, params, okra.Input{Rows: rows, Labels: labels})
//	// elsewhere
//	server, err := okra.NewServer(protocol.Setup{Session: session, Self: "hub"}, params, okra.Limits{})
//	// a runner calls Step until both have ended; then
//	gram, classes := server.Gram(), server.Labels()
//
// New rows are classified in a session of two, [PredictParty] and
// [PredictServer], whose descriptor names the training session as its parent.
//
// # Sessions that continue another
//
// A later session continues under the same seed: parties join late, bring more rows, or withdraw.
// Its descriptor names the session before as its parent. The server starts from its [Base], parties
// from their [EpochState].
//
//	1 Consent  party  -> leader    a party with the seed agrees that newcomers get it
//	  Welcome  leader -> newcomers the epoch's seed, after the last consent
//	2 Confirm  party  -> server    the number and the hash of the rows sent before; rows to come
//	  Grant    server -> parties   to those that bring rows
//	3 Rows     party  -> server    new rows only
//	4 Receipt  server -> parties   the total number of rows; all end
//
// The server computes only the products of new rows with all rows. Rows are in the order of the
// session's parties, and a product does not depend on the other rows. So the Gram matrix, the
// encoded rows and the labels equal, bit for bit, the results of a session in which all parties
// send all their rows under the same seed. Rows of former members are ignored. [Base.Emptied] and
// [EpochState.Emptied] lead to such a session, for comparison.
//
// A party that leaves keeps the seed, and its rows were multiplied with everybody's. A newcomer
// holds the seed like the others: together with the server it reads all rows, including kept ones.
// A party continues a session in one other session only.
//
// # Encoder hadamard
//
// A round transforms two overlapping windows of coordinates, whose length is a power of two, and
// changes signs between the two transforms. (If the width is a power of two, there is one window.)
// A Walsh-Hadamard transform turns a shift into signs and
// signs into a shift, so without these signs the second window nearly undoes the first. Of 1024
// features after three rounds, half would keep more than .34 of themselves in one coordinate and
// one .70; with the signs these numbers are .10 and .16.
//
// # Waiting
//
// A timer limits the time between two messages, not a round: a waiting member rearms it with every
// message. A slow upload continues while it makes progress, and a silent member is named. After its
// announcement a party receives nothing until all parties have announced. After its upload it
// receives nothing until the server has everybody's rows and their Gram matrix, so TimerReceipt
// must outlast the slowest of the others.
//
// # What the server learns
//
// Labels, held-out flags, each party's number of rows, and the complete Gram matrix: norms,
// distances, duplicates, clusters, whether two parties hold the same row, and every kernel, not
// only the agreed one. In detail:
//
//   - Rows on a grid (integers, counts, one-hot codes, pixels; scaled or not)
//     that outnumber the features that vary: lattice reduction of the Gram
//     matrix gives every feature of every row, up to the order of the features
//     and sign, without any known row, whatever the encoder.
//   - p known rows give the projection of every other row onto their span.
//   - Independent, non-Gaussian features are recovered by blind source
//     separation once rows greatly outnumber features.
//   - The number of features, once there are as many rows; with fewer rows, only that
//     it is one of the numbers with the same encoded width (encoder block shows it once
//     rows outnumber the coordinates of a block).
//   - Encoders haar and, in mode hardened, flake add nothing to the Gram matrix;
//     this is proven. Encoders hadamard and hbh add nothing that is known; this is a
//     heuristic. Encoder flake in mode paper adds the sum of each row's features.
//     Encoder block adds the Gram matrix of each block of some hundred features: as
//     many known rows then decode everything.
//   - Rows sent for prediction join the Gram matrix.
//
// # What parties and coalitions learn
//
// A party learns the total number of rows, the leader's number of features, and nothing else about the
// others' rows. One party together with the server reads every row of every party, because all share one
// seed. So does the
// server with anyone who obtains the seed, now or later. A newcomer receives the seed only if all
// agree. After a withdrawal a new seed protects only rows that are never compared with re-sent old
// ones.
//
// # What is not promised
//
// Nothing is verified: a party can send wrong rows, a server a wrong model. The protocol assumes
// that parties and server follow it, that the server does not collude with any party, and that
// encodings are confidential in transit. The paper's claim that an image's size stays hidden does
// not hold once there are as many rows as features. Its argument that encodings of another
// dimension cannot be aligned with known data is wrong: inner products need no alignment.
//
// [Leakage] states all this for a given job, in words for its report.
package okra
