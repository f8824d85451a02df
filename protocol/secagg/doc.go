// Package secagg adds vectors of integers so that nobody sees any of them:
// secure aggregation by pairwise masks (Bonawitz et al., CCS 2017) on a sparse
// graph (Bell et al., CCS 2020, "SecAgg+"). Clients may vanish at any point; the
// sum is over the clients whose masked vector arrived.
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
//   - A client learns who takes part, who is in the sum, and of its neighbours
//     that they are its neighbours. It learns no vector and not the sum.
//   - Clients that work together learn nothing of the others' vectors: without
//     the server they see no masked one.
//   - The server and corrupted clients together learn the sum of the others'
//     vectors: of at least Minimum less the corrupted ones if the server follows
//     the protocol, and of about half of that if it does not (below). With one
//     honest client left that is its vector.
//
// Up to the agreed share of corrupted clients, such a coalition learns nothing
// more, except with probability 2^-sigma. With adversary "semi-honest" that
// holds for a server that follows the protocol: one that tells two stories of
// who has survived reads whatever vector it likes. With "active" it holds also
// for a server that lies:
//
//   - Two stories about one client do not help. Each holder gives up one share of
//     one of its two secrets; the threshold is more than half of the holders and
//     the corrupted ones among them.
//   - Small cohorts do not help. Clients hold out for what is left when the
//     agreed share has vanished ([Params.Cohort], [Spec].Minimum). A server that
//     chooses who that is can raise the share of corrupted ones among the others;
//     up to 8 of the bits of sigma may go that way, and where more would, the
//     session needs more clients at its beginning.
//   - Grinding does not help: clients draw their holders with their own
//     randomness, after they have been told who is there.
//   - Small parts of a sum do not come apart by choosing whom to call vanished. A
//     client answers only if a threshold of its own holders have signed the same
//     story and are in the sum; each keeps its masks with the honest ones among
//     them. So a server that tells stories to several groups needs groups in which
//     everybody has (threshold - corrupted holders) of its holders, which in a
//     random graph are not much under half of the devices. That two such halves are
//     not found is no part of the argument, and the argument is no proof: sums over
//     about half of the agreed cohort are not excluded. Bell et al. sign for each
//     pair of neighbours who is included; here the whole list is signed, which
//     shows each client the number in the sum.
//   - Sessions that end before vectors are sent cost a client nothing, and show the
//     server whom it drew as holders. A server that has begun r of them has r
//     draws to choose from: sigma falls by log2(r), by 3 for 8.
//
// If more clients are corrupted than agreed, nothing is promised. In many devices of
// few the agreed share rounds down, to none below 1/share.
//
// # What is not promised
//
// A client can add anything within a word, and nobody can tell. Shares that do not
// open end nobody: their holder counts as one that has none of that client, and
// gives up neither. Nobody finds out who has changed them. One client that hands out or
// gives up wrong shares can keep a session from giving a sum, and so can the server:
// where too few of its shares open, the error names it and how many say so. Wrong shares are found out if more than a threshold of them
// came, but not whose they are; if exactly a threshold came, a wrong share of a
// self mask makes the sum wrong. The
// sum itself may tell much about a person who differs from all others, and two
// sums over groups of devices that differ by one person tell all about that person: clients
// contribute once for each epoch and purpose, so an operator who approves a session
// must look at both names. A server that invents clients defeats every cohort:
// clients accept only keys that a roster vouches for.
//
// # Rounds
//
//	AdvertiseKeys     client: two public keys, signed
//	Cohort            server: who is there (U1)
//	Holders           client: who shall hold shares of my secrets, drawn after U1 is fixed
//	HolderKeys        server: their keys
//	ShareKeys         client: encrypted shares of the mask key and of the self mask
//	Shares            server: the shares for this client, and who has shared (U2)
//	MaskedInput       client: the vector under all masks
//	Survivors         server: whose vector has arrived (U3)
//	ConsistencyCheck  client: signature of U1, U2 and U3      (active only)
//	Signatures        server: the signatures of the client's holders (active only)
//	Unmask            client: one share for each client it holds shares of
//
// A client releases for each other client either a share of the self mask (its
// vector is in the sum) or of the mask key (it is not), never both, and only
// once. A message that contradicts what was agreed or said before is refused and
// changes nothing; the client goes on waiting, and ends by its timer.
package secagg
