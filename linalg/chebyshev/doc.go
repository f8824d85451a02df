// Package chebyshev solves ridge regressions by a polynomial whose coefficients are public, so that
// a computation on shared secrets needs products and no division.
//
// Let A be a symmetric matrix with eigenvalues from 0 to N, B a matrix, and beta > 0. The solution
// W = (A + beta N)^-1 B is approximated by
//
//	W_K = P(A/N) B/N    P(x) = (1 - T_K(2x - 1) / T_K(-1 - 2 beta)) / (x + beta)
//
// where T_K is Chebyshev's polynomial. P is a polynomial of degree K-1, because its numerator is 0
// at x = -beta. The residual of W_K is exactly
//
//	B - (A + beta N) W_K = T_K(2A/N - 1) / T_K(-1 - 2 beta) B
//
// whose norm is at most that of B divided by cosh(K acosh(1 + 2 beta)). No other polynomial of this
// degree has a smaller bound (Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, 2003,
// section 6.11.1). P is the polynomial of the Chebyshev iteration (Golub and Varga, 1961), in a form
// that needs one vector at a time and allows products in blocks:
//
//	p, err := chebyshev.New(beta, plan.Steps)
//	blocks := p.Blocks(plan.Block) // P = sum over j, i of blocks[j][i] T_j(T_m) T_i, by T_mn = T_m(T_n)
//
// Coefficients, ranges, plans and numbers of steps are the same bits on every machine: the coefficients come
// from numbers of fixed precision (math/big), because two holders of additive shares that multiply them with
// two different last bits would add random numbers to the result.
package chebyshev
