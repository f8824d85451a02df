package secvm

import "fmt"

// Outcome counts the test packages of one class, and the correct guesses among them.
type Outcome struct{ Total, Correct uint64 }

// Census counts the devices that took part in a window, and the outcomes of tests.
type Census struct {
	Participants [2]uint64  // of label -1 and of +1; all in the first if labels are not told
	Tests        [2]Outcome // of label -1 and of +1
}

// Count returns the number of participants.
func (c Census) Count() int { return int(c.Participants[0] + c.Participants[1]) }

// Outcomes returns what tests gave.
func (c Census) Outcomes() [2]Outcome { return c.Tests }

// weight returns the sum of the participants' weights.
func (c Census) weight(minus, plus float64) float64 {
	return minus*float64(c.Participants[0]) + plus*float64(c.Participants[1])
}

// weighable refuses to weight classes that nobody tells.
func (p Params) weighable(minus, plus float64) error {
	if minus != plus && !p.spec.Classes {
		return fmt.Errorf("secvm: classes are weighted by %g and %g, and participants do not tell theirs", minus, plus)
	}
	return nil
}
