// Package secagg adds vectors of integers so that nobody sees any of them:
// secure aggregation by pairwise masks (Bonawitz et al., CCS 2017) on a sparse
// graph (Bell et al., CCS 2020, "SecAgg+"). Clients may vanish at any point; the
// sum is that of the clients whose masked vector arrived.
//
// # Who learns what
//
//   - The server learns the sum, and which clients are in it. Together with
//     corrupted clients it learns the sum of the others.
//   - A client learns who takes part. It learns no vector and not the sum.
//   - A coalition of the server and up to the agreed share of the clients learns
//     nothing more, except with probability 2^-sigma. With adversary
//     "semi-honest" that holds for a server that follows the protocol; with
//     "active" also for one that tells different clients different things.
//
// # What is not promised
//
// A client can add anything within the agreed bound, and nobody can tell. The
// sum itself may tell much about a person who differs from all others, and two
// sums over crowds that differ by one person tell all about that person:
// clients contribute once in an epoch, and hold out for a minimum cohort. A
// server that invents clients defeats every cohort: clients accept only keys
// that a roster vouches for.
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
// once.
package secagg
