// Package ppsvmv adds up, around a ring, the kernel matrices of sites that hold different columns
// of the same rows (Yu, Vaidya, Jiang, "Privacy-preserving SVM classification on vertically
// partitioned data", PAKDD 2006). It is here for comparisons only: two sites can together read the
// matrix of the site between them. Protocol gram adds up the same matrices by secure
// aggregation, so that two such sites cannot.
//
// The first site, the leader, adds a random matrix R to its own matrix and sends the sum to the
// next site. Each site adds its own matrix. The last site sends the sum back to the leader, which
// subtracts R. The paper's leader then trains; here it sends the matrix to the server, which
// trains.
//
//	1 Tile  site -> next site   words of R + sum of the matrices so far
//	2 Sum   leader -> server    words of the sum of all matrices
//
// Tiles are sent one after the other, so that all sites work at the same time. At most eight of
// them are in the ring.
//
// Entries are whole numbers, and words are taken modulo 2^64. The words of R are uniform, so a
// single word in the ring reveals nothing, and the sum is exact. The paper adds real numbers, for
// which no pad is uniform and no sum exact.
//
//	params, err := ppsvmv.NewParams([]int{n * n}, digest)
//	leader, err := ppsvmv.NewLeader(setup, part)
//	// elsewhere
//	site, err := ppsvmv.NewSite(setup, part)
//	server, err := ppsvmv.NewServer(setup)
//	// run all to their end
//	sums := server.Sums()
//
// # Who learns what
//
//   - The leader and the server learn the sum: the inner products of rows over all columns.
//   - A site without accomplices sees uniformly random words, and learns nothing.
//   - The two neighbours of a site other than the leader, if they collude, learn its matrix
//     exactly: its output minus its input. Likewise the two neighbours of several consecutive
//     such sites learn the sum of these sites' matrices. With two sites, the leader alone learns
//     the other site's matrix.
//   - The server and the leader's two neighbours, if they collude, learn the leader's matrix: the sum,
//     less what the last site sends the leader, plus what the leader sends the second site.
//
// # What is not promised
//
// That the parts are right: a site can add anything, and nobody can detect which one did. That
// sites do not collude: the paper assumes it.
package ppsvmv
