package bench

import (
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/learn/linear"
)

// exams are the data sets with the settings that a small search led to: length
// of .5 or 1, rates 4 apart, logistic loss or smooth hinge.
func exams() []exam {
	return []exam{
		{name: "wdbc", source: catalogue.Bundled + "wdbc", positive: []string{"1"}, standardise: true, courses: []course{
			faithful(1, .25).beside(.028),
			block(1, 4).beside(.014),
			precond(1).beside(.007),
			inPasses(1).beside(.007),
		}},
		{name: "digits", source: catalogue.Bundled + "digits", positive: []string{"1", "3", "5", "7", "9"}, courses: []course{
			faithful(1, .25).beside(.127),
			block(.5, 16).beside(.011),
			precond(.5).beside(.004),
			inPasses(.5).beside(0),
		}},
		{name: "phishing", source: "phishing/phishing", positive: []string{"1"}, courses: []course{
			faithful(1, 1).beside(.126),
			block(.5, 4).beside(.063),
			precond(.5).beside(.047),
			inPasses(.5).beside(.035),
		}},
	}
}

// faithful is the paper's algorithm: one row and one direction an iteration.
func faithful(length, rate float64) course {
	return course{mode: "faithful", rows: 1, block: 1, directions: 1 << 14, length: length, loss: linear.Logistic{}, rate: rate, lambda: 1e-5}
}

// block is the paper's algorithm with many rows and many directions an iteration.
func block(length, rate float64) course {
	return course{mode: "block", rows: 256, block: 32, directions: 2048, length: length, loss: linear.SmoothHinge{}, rate: rate, lambda: 1e-5}
}

// precond is block with Newton's step.
func precond(length float64) course {
	return course{mode: "precond", rows: 512, block: 64, directions: 2048, length: length, loss: linear.Logistic{}, rate: 1, rho: 1e-3}
}

// inPasses is mode cached.
func inPasses(length float64) course {
	return course{mode: "cached", directions: 2048, length: length, loss: linear.Logistic{}, lambda: 1e-6}
}

func (c course) beside(reference float64) course {
	c.reference = &reference
	return c
}
