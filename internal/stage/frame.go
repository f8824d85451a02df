package stage

import "github.com/mercer-fl/mercer/internal/method"

// The frame's types, under the names that they have had here.
type (
	Alone      = method.Alone
	Floors     = method.Floors
	Member     = method.Cost
	Model      = method.ModelFile
	Outcome    = method.Outcome
	Prediction = method.Prediction
	Reporter   = method.Reporter
	Result     = method.Result
	Run        = method.Run
	Setup      = method.Setup
	Split      = method.Split
	Table      = method.Table
)
