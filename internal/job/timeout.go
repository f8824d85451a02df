package job

import (
	"time"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Timeout bounds the waits of a deployed job.
type Timeout struct {
	Join  time.Duration // until every party has taken up the session
	Round time.Duration // between two messages that a session waits for
}

// Section declares the bounds.
func (t *Timeout) Section() *section.Section {
	return &section.Section{Name: "timeout", Fields: []section.Field{
		{Key: "join", Value: section.Duration{Dst: &t.Join}, Default: "1m", Doc: "The time that the parties have to join a session, up to 720h."},
		{Key: "round", Value: section.Duration{Dst: &t.Round}, Default: "10m", Doc: "The longest wait for the next message of a session, up to 720h."},
	}}
}
