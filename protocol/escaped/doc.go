// Package escaped is a pairwise protocol for parties who hold the same features of different
// people: every two parties compute the products of their rows under masks, and a server puts
// them together into the linear Gram matrix of all.
//
// Source: Uenal, Akguen, Pfeifer, "ESCAPED: Efficient Secure and Private Dot Product Framework
// for Kernel-based Machine Learning Algorithms with Applications in Healthcare", AAAI 2021. It is
// here to be compared with, as OKRA's paper (arXiv 2410.15840) compares itself with it, and it is
// broken: see below. There is no hardened version.
//
// Party i draws a mask A_i of the shape of its rows X_i, and a number a_i. Of two parties P and Q
// the one before the other in the session is P. The server adds three products of each pair:
//
//	A_P (X_Q - A_Q)^T + (X_P - A_P) X_Q^T + (a_P A_P A_Q^T) / a_P = X_P X_Q^T
//
// Rounds:
//
//	1 Announce   party  -> server   rows to come, and whether they have labels
//	  Grant      server -> parties  the numbers of rows of all
//	2 Masked     P <-> Q            X - A of either
//	  Mask       P  -> Q            a_P A_P
//	3 Own        party  -> server   the Gram matrix of its own rows; Scale: 1/a; Labels
//	  Component  P, Q   -> server   the first product from P, the second from Q
//	  Unmasker   Q      -> server   the third
//	4 Receipt    server -> parties  all end
//
// Parties meet by the circle method: in each round of it nearly every party has one partner.
//
// # What the server learns
//
// Labels, held-out flags, each party's number of rows, the complete Gram matrix and the three
// products by themselves. All that follows from a Gram matrix follows here too: see package okra.
// It is not told the number of features, which shows as the rank of the matrix.
//
// # What parties and coalitions learn
//
// Q sees M = X_P - A_P and N = a_P A_P, and so X_P = M + N/a_P with one unknown number. One value of
// P that Q knows gives every row of P. Where rows have a background of zeros, as images have, the
// most frequent ratio -N/M is a_P, and Q need not know anything. Both attacks are tests. Every party
// so reads the rows of all before it, and learns how many rows each has.
//
// The server and any Q together read the rows of all before Q without an attack, because the server
// is told 1/a_P.
//
// # What is not promised
//
// Nothing is verified: a party may send wrong products.
package escaped
