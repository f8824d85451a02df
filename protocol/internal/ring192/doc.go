// Package ring192 computes in Z_2^192, the integers modulo 2^192. A proof about words of 128 bits needs 64
// bits more: a word that is false only in its highest bit, multiplied by a random number of 64 bits, is
// then wrong in bits that the number decides.
//
// [Lift] takes a word of ring128 as a number from 0 to 2^128 - 1, and not as a signed one. Sums and
// products are right modulo 2^192 in any order. Their time depends on sizes only.
package ring192
