// Package feature makes random Fourier features (Rahimi and Recht, "Random features for large-scale
// kernel machines", NIPS 2007). The features of a row x are cos(w.x) and sin(w.x) for directions w
// drawn from a kernel's spectrum. With h directions
//
//	k(x, z) = E[cos(w.(x - z))] ~ 1/h sum over w of cos(w.x) cos(w.z) + sin(w.x) sin(w.z)
//
// so that a kernel machine becomes a linear one on 2h features, each from -1
// to 1. The error of one kernel value is about 1/sqrt(h).
//
// [Gaussian] and [Laplace] draw directions one by one, each from a source of its own, so that any
// range of them can be made anywhere and in any order:
//
//	w := linalg.New[float64](512, columns)
//	feature.Gaussian(w, 0, 0.5, func(direction int) feature.Normals {
//		return prg.New(seed, "directions", binary.LittleEndian.AppendUint64(nil, uint64(direction)))
//	})
//	m := feature.Map{Directions: w}
//	phi := linalg.New[float64](rows.Rows, m.Len())
//	m.Rows(phi, rows)
//
// Where several parties hold the columns of the same rows, w.x is a sum of what
// each of them computes from its own columns. A [Spectrum] is a distribution of
// directions whose entries can be drawn column by column, each party from a key
// that nobody else has; [Phases] are a party's summands as numbers modulo 2^bits,
// in which they can be added and masked without error; a [Wave] turns the sums
// into cosines and sines.
//
//	d := feature.Directions{Spectrum: feature.RBF(0.5), Columns: columns, Entries: func(block, column int) feature.Numbers {
//		return prg.New(key, "entries", number(block), number(column))
//	}}
//	words := make([]byte, len(ids)*512*2)
//	feature.NewPhases(rows, d, 16).Block(words, ids, 0, 512)
//
// Rounding a phase changes its cosine by at most pi / 2^bits, and the cosine of
// a sum of q phases by some 2 pi sqrt(q/24) / 2^bits.
//
// [Linear] has features that are not random: the columns of a bounded row, and a constant.
package feature
