// Package hinge trains a linear support vector machine from sums of its subgradients. The sums
// come from the caller: the package reads no row.
//
// The objective comes from SecVM (Hartmann, 2019, eq. 1) and Pegasos,
//
//	J(w) = 1/N sum_i c_i max(0, 1 - y_i w.x_i) + lambda/2 |w|^2
//
// with c_i the weight of row i's class and N the sum of the weights. One step takes
// G = sum of c_i y_i x_i over the rows with y_i w.x_i < 1, and
//
//	w <- (1 - eta lambda) w + eta G / N
//
// If [Spec.Radius] is set, w is then projected onto a ball, so that a recipient of weights knows
// how large they can be. A bias is one more feature that is always 1, and is regularised and
// projected like the others.
//
//	t, err := hinge.New(hinge.Spec{Lambda: 0.1}, bins+1)
//	for range iterations {
//		t.Step(sum(t.Weights()), n)
//	}
//	w := t.Mean()
package hinge
