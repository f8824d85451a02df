package moments

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/declare"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Plan implements [method.Federated]: the parties agree on columns and a scaling,
// declare their numbers of training rows, and add up the moments of these rows; the
// coordinator chooses and solves by the sums, and tells all the one solution; the
// parties add up its errors on held-out rows.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	j := c.Job
	for _, groups := range [][]secagg.Group{sumGroups(j, known{rows: math.MaxInt64}.features(j)), errorGroups(j)} {
		if err := sums.Check(len(c.Parties), groups); err != nil {
			return nil, err
		}
	}
	return append(plan,
		method.Step{Name: "count", Session: &method.Session{
			Protocol: declare.Name, Version: declare.Version, Members: c.Crowd(), Purpose: "train",
		}},
		method.Step{Name: "sums", Session: sums.Session(c, "sums", func(k method.Known) (sums.Sum, error) {
			heard := k.(known)
			return sums.Sum{Epoch: "sums/" + hex.EncodeToString(heard.counted[:]), Groups: sumGroups(j, heard.features(j))}, nil
		})},
		method.Step{Name: "learn"},
		method.Step{Name: "tell", Session: sums.Tell(c, func(k method.Known) int { return taughtBytes(j, k.(known).features(j)) })},
		method.Step{Name: "errors", Session: sums.Session(c, "errors", func(k method.Known) (sums.Sum, error) {
			heard := k.(known)
			return sums.Sum{Epoch: hex.EncodeToString(heard.solution[:]), Groups: errorGroups(j)}, nil
		})},
		method.Step{Name: "evaluate"}), nil
}

// known is what the steps so far have made public.
type known struct {
	rows     int64    // of training, of all parties; 0 before they are counted
	counted  [32]byte // SHA-256 of each party's number of these; zero before
	solution [32]byte // SHA-256 of what was told; zero before
}

// directions are public: they follow from the name of the session that adds up
// the sums, which nobody knows before job and roster are fixed.
func directions(j *job.Job, sums protocol.SessionID, features, columns int) (feature.Map, error) {
	return moments.Features(j.Kernel.Spec(), sums, features, columns)
}

// unknown is a step that the method does not have.
func unknown(step string) error { return fmt.Errorf("moments: no step %s", step) }
