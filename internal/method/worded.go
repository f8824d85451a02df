package method

import "github.com/mercer-fl/mercer/protocol"

// Worded is a machine that does not know the job it serves, with what its end means
// for that.
type Worded struct {
	protocol.Machine
	Meaning func(error) error // of an end that is not nil
}

// Step implements protocol.Machine.
func (w Worded) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := w.Machine.Step(e)
	if err == nil && effects.End != nil && effects.End.Err != nil {
		effects.End = &protocol.End{Err: w.Meaning(effects.End.Err)}
	}
	return effects, err
}
