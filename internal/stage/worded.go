package stage

import "github.com/mercer-fl/mercer/protocol"

// worded is a machine that does not know the job it serves, with what its end means
// for that.
type worded struct {
	protocol.Machine
	meaning func(error) error // of an end that is not nil
}

// Step implements protocol.Machine.
func (w worded) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := w.Machine.Step(e)
	if err == nil && effects.End != nil && effects.End.Err != nil {
		effects.End = &protocol.End{Err: w.meaning(effects.End.Err)}
	}
	return effects, err
}
