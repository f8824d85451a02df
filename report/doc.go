// Package report writes the result of a job as one HTML page. The page shows the metrics of each
// party alone, of all parties together, and on pooled data. It also shows the costs, and the
// information that each role learns.
//
// The page is one file. It loads nothing, runs no script, follows the reader's
// light or dark setting and can be printed.
//
//	err := report.Write(file, report.Run{
//		Title:   "digits-hospitals",
//		Metrics: []string{"accuracy", "auc"},
//		Scores: []report.Score{
//			{Name: "north", Kind: report.Alone, Values: map[string]float64{"accuracy": 0.91, "auc": 0.97}},
//			{Name: "Mercer", Kind: report.Together, Values: map[string]float64{"accuracy": 0.98, "auc": 0.99}},
//		},
//	})
package report
