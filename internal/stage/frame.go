package stage

import "github.com/mercer-fl/mercer/internal/method"

// The frame's types, under the names that they have had here.
type (
	AveragePoint = method.AveragePoint
	BinPoint     = method.BinPoint
	ClassTest    = method.ClassTest
	SecVMResult  = method.SecVMResult
	Alone        = method.Alone
	BySums       = method.BySums
	Floors       = method.Floors
	Member       = method.Cost
	Model        = method.ModelFile
	Outcome      = method.Outcome
	Prediction   = method.Prediction
	Reporter     = method.Reporter
	Result       = method.Result
	Run          = method.Run
	Setup        = method.Setup
	Split        = method.Split
	SumsResult   = method.SumsResult
	Table        = method.Table
)
