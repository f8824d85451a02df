// Package report writes what came of a job as one HTML page for people: what
// each party reaches alone, together, and on pooled data; what it cost; and
// what each role learnt.
//
// The page is one file. It loads nothing, runs no script, follows the reader's
// light or dark setting and prints.
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
