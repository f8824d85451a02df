package job

import "time"

// Timeout bounds the waits of a deployed job.
type Timeout struct {
	Join  time.Duration // until every party has taken up the session
	Round time.Duration // between two messages that a session waits for
}

func defaultTimeout() Timeout { return Timeout{Join: time.Minute, Round: 10 * time.Minute} }

func (t *Timeout) section() *section {
	return &section{name: "timeout", fields: []field{
		{key: "join", value: duration{&t.Join}},
		{key: "round", value: duration{&t.Round}},
	}}
}
