// Package secagg adds vectors of integers without revealing any single vector. It is secure
// aggregation by pairwise masks (Bonawitz et al., CCS 2017) on a sparse graph (Bell et al., CCS
// 2020, "SecAgg+"). Clients may vanish at any point; the sum includes the clients whose masked
// vectors arrived.
//
//	p, err := secagg.NewParams(secagg.Spec{
//		Corrupted: .05, Dropped: .1, Minimum: 100, Epoch: "2026-11",
//		Groups: []secagg.Group{{Entries: 1000, Bound: 1}},
//	}, clients)
//	client, err := secagg.NewClient(setup, p, vector, identity)
//	server, err := secagg.NewServer(setup, p, identities, secagg.Limits{})
//	... // run the machines; then
//	sums, who := server.Sums(), server.Survivors()
//
// # Who learns what
//
//   - The server learns the sum, which clients are in it, who vanished when, and
//     who holds shares of whose secrets.
//   - A client learns who takes part, who is in the sum, and which clients are
//     its neighbours. It learns no vector and not the sum.
//   - Clients that work together learn nothing of the others' vectors: without
//     the server they see no masked one.
//   - The server and corrupted clients together learn the sum of the others'
//     vectors: of at least Minimum less the corrupted ones if the server follows
//     the protocol, and of about half of that if it does not (below). If only one
//     honest client is left, this sum is its vector.
//
// Up to the agreed share of corrupted clients, such a coalition learns nothing
// more, except with probability 2^-sigma. With adversary "semi-honest" this
// holds for a server that follows the protocol: a server that sends different lists
// of survivors to different clients can read any vector. With "active" it also holds
// for a server that lies:
//
//   - Different lists about one client do not help. Each honest holder releases one share
//     of one of the client's two secrets. The threshold is more than half of the sum of
//     the number of holders and the number of corrupted ones among them.
//   - Small cohorts do not help. Clients require as many members as remain after the
//     agreed share has vanished ([Params.Cohort], [Spec].Minimum). A server that
//     chooses the vanished clients can raise the share of corrupted ones among the
//     others. It can gain up to 8 of the bits of sigma; where it would gain more, the
//     session needs more clients at its beginning.
//   - Grinding does not help: clients draw their holders with their own
//     randomness, after the server has sent the cohort.
//   - A server cannot split off small parts of a sum by choosing the clients that it
//     calls vanished. A client answers only if a threshold of its own holders have
//     signed the same lists and are in the sum; it keeps its masks with the honest
//     ones among them. So a server that sends different lists to several groups needs
//     groups in which everybody has (threshold - corrupted holders) of its holders; in
//     a random graph such groups are not much under half of the clients. The argument
//     does not show that two such halves cannot be found, and it is no proof: sums over
//     about half of the agreed cohort are not excluded. In Bell et al. a client
//     signs the inclusion of each pair of neighbours; here it signs the whole list,
//     which shows each client the number of vectors in the sum.
//   - Sessions that end before vectors are sent cost a client nothing, but show the
//     server the holders that it drew. A server that has started r of them has r
//     draws to choose from: sigma falls by log2(r), by 3 for r = 8.
//
// If more clients are corrupted than agreed, nothing is promised. In a small cohort
// the agreed share rounds down, to no client if there are fewer than 1/share.
//
// # What is not promised
//
// A client can add any value that fits a word, without detection. Shares that do not
// decrypt end no member's session: their holder counts as one that has no share of that
// client, and releases neither of the two. No member learns who changed them. One client that deals or
// releases wrong shares can keep a session from giving a sum, and so can the server: if
// too few shares of a client decrypt, the error names that client and the number of
// complaints. Wrong shares are detected if more than a threshold of shares arrived, but
// not whose they are; if exactly a threshold arrived, a wrong share of a self mask makes
// the sum wrong.
//
// The sum itself may reveal much about a person who differs from all others, and two
// sums over groups of clients that differ by one person reveal that person's vector.
// Clients contribute once for each epoch and purpose, so an operator who approves a
// session must check both names. A server that invents clients defeats every cohort:
// clients accept only keys of a roster.
//
// # Rounds
//
//	AdvertiseKeys     client: two public keys, signed
//	Cohort            server: the clients that take part (U1)
//	Holders           client: the holders of its shares, drawn after U1 is fixed
//	HolderKeys        server: their keys
//	ShareKeys         client: encrypted shares of the mask key and of the self mask
//	Shares            server: the shares for this client, and the clients that have shared (U2)
//	MaskedInput       client: the vector under all masks
//	Survivors         server: the clients whose vector has arrived (U3)
//	ConsistencyCheck  client: signature of U1, U2 and U3      (active only)
//	Signatures        server: the signatures of the client's holders (active only)
//	Unmask            client: one share for each client it holds shares of
//
// A client releases for each other client either a share of the self mask (its
// vector is in the sum) or of the mask key (it is not), never both, and only
// once. A client refuses a message that contradicts the agreed parameters or an earlier
// message. It then waits on, and ends by its timer.
package secagg
