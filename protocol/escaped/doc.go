// Package escaped is a pairwise protocol for parties that hold the same features of different
// people: every two parties compute the products of their rows under masks, and a server assembles
// them into the linear Gram matrix of all rows.
//
// Source: Uenal, Akguen, Pfeifer, "ESCAPED: Efficient Secure and Private Dot Product Framework for
// Kernel-based Machine Learning Algorithms with Applications in Healthcare", AAAI 2021. This
// package exists for comparison only, because OKRA's paper (arXiv 2410.15840) compares OKRA with
// ESCAPED. ESCAPED is insecure: see below. There is no hardened version.
//
// Party i draws a mask A_i of the shape of its rows X_i, and a number a_i. Of two parties, P is the
// one that precedes Q in the session. The server adds three products of each pair:
//
//	A_P (X_Q - A_Q)^T + (X_P - A_P) X_Q^T + (a_P A_P A_Q^T) / a_P = X_P X_Q^T
//
// Rounds:
//
//	1 Announce   party  -> server   rows to come, and whether they have labels
//	  Grant      server -> parties  every party's number of rows
//	2 Masked     P <-> Q            X - A of each of the two
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
// products by themselves. All consequences of a Gram matrix apply: see package okra. The server
// does not receive the number of features, but the rank of the matrix shows it once enough rows are
// independent.
//
// # What parties and coalitions learn
//
// Q sees M = X_P - A_P and N = a_P A_P, and so X_P = M + N/a_P with one unknown number. One value
// of P that Q knows gives every row of P. If rows have a background of zeros, as images have, the
// most frequent ratio -N/M is a_P, and Q needs to know nothing. Both attacks are tests. So every
// party can read the rows of all parties before it, and it learns how many rows each party has.
//
// The server and any Q together read the rows of all parties before Q without an attack, because
// the server receives 1/a_P. If as many of Q's rows are independent as there are features, the
// two read the rows of all parties, because the products with known rows determine the others.
//
// # What is not promised
//
// Nothing is verified: a party can send wrong products.
package escaped
