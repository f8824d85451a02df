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
		{Key: "join", Value: section.Duration{Dst: &t.Join}, Default: "1m", Doc: "How long every party may take to take up a session, up to 720h."},
		{Key: "round", Value: section.Duration{Dst: &t.Round}, Default: "10m", Doc: "The time between two messages that a session waits for, up to 720h."},
	}}
}
