// Package bench measures Mercer's computations beside the limits of the machine.
//
// A figure by itself says little: machines differ, and other programs run on
// them. So everything here runs in turns with its limit (a loop of
// multiply-adds, a copy of the same memory) or with a peer (svm-train, the same
// work done the plain way), and the figure that counts is the ratio of the best of several
// turns. A [Row] is one such figure; its target, where it has one, is the
// project's promise for two cores with AVX-512.
//
//	result, err := bench.Gemm().Measure(ctx, 5, func(done, total int) {})
//	for _, r := range result.Rows {
//		fmt.Println(r.Name, r.Value, r.Unit, *r.Ratio)
//	}
//
// A benchmark is a list of cases. A case prepares its data, names the
// runs that take turns (the limit first) and makes rows of their best times;
// measuring, limit and judgement are kept apart. Another benchmark is another
// function that returns such a list.
package bench
