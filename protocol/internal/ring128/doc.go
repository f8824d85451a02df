// Package ring128 computes in Z_2^128, the integers modulo 2^128: words, streams of words, shares of
// fixed-point numbers, and products of matrices.
//
// A word stands for a signed whole number from -2^127 to 2^127 - 1. A number with f fraction bits is a
// word of 2^f times the number. Sums and products of words are right modulo 2^128 in any order, so
// the products use all cores and any blocking: the bits of the result stay the same.
//
// Two holders share a word z as words a + b = z. Each truncates its own word by f bits, without a message:
// the first by [TruncateFirst], the second by [TruncateSecond] (Mohassel and Zhang, "SecureML", S&P 2017,
// section 4.1). The sum of the results differs from z/2^f by less than one unit, unless a + b wraps around:
// then it is wrong by 2^(128-f) units. If a is uniform, that has at most the probability |z|/2^128.
//
// The time of a product depends on its size only, where the machine's additions and multiplications take
// constant time. Conversions to and from floats and big integers do not promise that.
package ring128
