// Package feature makes random Fourier features (Rahimi and Recht, "Random
// features for large-scale kernel machines", NIPS 2007): for directions w drawn
// from a kernel's spectrum, cos(w.x) and sin(w.x) of x. With h directions
//
//	k(x, z) = E[cos(w.(x - z))] ~ 1/h sum over w of cos(w.x) cos(w.z) + sin(w.x) sin(w.z)
//
// so that a kernel machine becomes a linear one on 2h features, each from -1
// to 1. The error of one kernel value is about 1/sqrt(h).
//
// Directions are drawn one by one, each from a source of its own, so that any
// range of them can be made anywhere and in any order:
//
//	w := linalg.New[float64](512, columns)
//	feature.Gaussian(w, 0, 0.5, func(direction int) feature.Normals {
//		return prg.New(seed, "directions", binary.LittleEndian.AppendUint64(nil, uint64(direction)))
//	})
//	m := feature.Map{Directions: w}
//	phi := linalg.New[float64](rows.Rows, m.Len())
//	m.Rows(phi, rows)
package feature
