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
//
// align is private set intersection; sums, errors and gram's protocol are sessions of secure aggregation; tell is a
// broadcast, and so are labels and fdskl's learn, from a party to the coordinator.
package stage
