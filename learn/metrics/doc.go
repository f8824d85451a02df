// Package metrics measures the quality of predictions. For classes it has figures of the confusion
// matrix, curves with their areas, Brier score, calibration and net benefit. For numbers it has
// RMSE, MAE, R2 and residuals. For rankings it has NDCG and recall, and for clusters the adjusted Rand
// index. [Bootstrap] returns 95 % intervals of any figures.
//
// Names and conventions are scikit-learn's. A function reports a figure that is undefined (an AUC
// with one class only, R2 of constant truth, any figure of no rows) by an error, false or nil, so that
// a table of results cannot hide it. Accuracy, F1 and balanced accuracy of a
// [ConfusionMatrix] without rows are NaN.
//
//	confusion, err := metrics.NewConfusionMatrix(truth, predicted)
//	if err != nil {
//		return err
//	}
//	fmt.Println(confusion.Accuracy(), confusion.F1Macro())
//	fmt.Print(confusion)
//
// The AUC of a one-vs-one machine without probabilities:
//
//	scores, err := metrics.VoteScores(decisions, len(classes))
//	if err != nil {
//		return err
//	}
//	auc, err := metrics.AUCOvO(truth, scores)
package metrics
