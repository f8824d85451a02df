// Package bench measures Mercer's computations, and compares most of them with a limit of the machine or
// with another program.
//
// A figure alone means little: machines differ, and other programs run on them. So
// most measurements alternate with a limit (a loop of multiply-adds, a copy of the
// same memory) or with a peer (svm-train, the same work done the plain way). The figure
// that counts is then the ratio of the best of several runs, and of the median ones
// beside other libraries. A [Row] is one figure; its target, if it has one, is the
// project's promise for two cores with AVX-512.
//
//	result, err := bench.Gemm().Measure(ctx, 5, func(done, total int) {})
//	for _, r := range result.Rows {
//		fmt.Println(r.Name, r.Value, r.Unit, *r.Ratio)
//	}
//
// A benchmark is a list of cases. A case prepares its data, names the runs that
// alternate (the limit, if there is one, as a rule first) and makes rows of their best times; measuring, limit and
// judgement are separate. A new benchmark is a function that returns such a list.
package bench
