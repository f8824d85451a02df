package job

import (
	"time"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Link describes the network for which the command simulate estimates transfer times. See package
// transport/link. The zero value means that there is no such network.
type Link struct {
	Rate    float64       // bytes per second in each direction
	Latency time.Duration // delay of every message
	Loss    float64       // share of bytes that are lost and sent again
}

// Section declares the keys of a network line.
func (l *Link) Section() *section.Section {
	return &section.Section{Name: "link", Fields: []section.Field{
		{Key: "rate", Value: section.Number{Dst: &l.Rate}, Need: "add \"rate\" with the bytes a second of a party's line, such as 1.25e6", Doc: "The rate of each member's line in each direction, in bytes a second."},
		{Key: "latency", Value: section.Duration{Dst: &l.Latency}, Else: "none", Doc: "The time that every message takes in addition to its bytes."},
		{Key: "loss", Value: section.Number{Dst: &l.Loss}, Else: "none", Doc: "The share of bytes that are lost and sent again."},
	}, Finish: l.finish}
}

func (l *Link) finish(in *section.Place) error {
	if err := in.Positive("rate", l.Rate); err != nil {
		return err
	}
	return in.Share("loss", "the bytes", l.Loss)
}
