// Package stage holds a job as a list of stages. A stage is one session of a
// protocol or one computation at the coordinator; what a stage makes public
// fixes the next one's descriptor. It is the only package that imports both
// protocols and learners: protocols produce Gram matrices or feature maps,
// learners consume them, and the two never hear of each other.
//
// "mercer simulate" and the daemons run the same list:
//
//	okra:     scale (parties only) -> protocol -> tune (with folds) -> learn -> evaluate
//	moments:  scale (parties only) -> sums -> learn -> tell -> errors -> evaluate
//	gram:     align -> declare -> protocol -> labels -> tune (with folds) -> learn -> evaluate
//	fdskl:    align -> declare -> protocol -> learn
//	fedcfk:   popularity -> triangle -> learn -> tell (each party recommends to itself)
//
// align is private set intersection; sums, errors and gram's protocol are sessions of secure aggregation; tell is a
// broadcast, and so are labels and fdskl's learn, from a party to the coordinator.
//
// A job of fedcfk is described by [Crowd] and [Device], which "mercer simulate" and
// "mercer demo" run for crowds too large for a process each. A job of secvm is run
// by package gateway, or by "mercer simulate":
//
//	fedcfk:  popularity -> triangle -> learn -> evaluate (each device by itself)
//	in mode paper:  rounds (each with requests for rows) -> learn -> evaluate
package stage
