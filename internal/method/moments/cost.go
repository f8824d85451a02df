package moments

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// foresee returns the public values of a job over tables of the given sizes.
func foresee(c method.Instance, s method.Sizes) (public, error) {
	k := expected(s)
	if m := k.features(c.Job); m < 2 {
		return public{}, fault.BadInputf("moments: %d training rows of %d columns are too few for two random features", k.rows, k.columns)
	}
	return k, nil
}

func expected(s method.Sizes) public {
	return public{
		rows: int64(s.All(method.TableSize.Training)), room: roomFor(int64(s.Most(method.TableSize.Training))),
		columns: s.Most(func(t method.TableSize) int { return t.Columns }),
	}
}

// countCost is the formula of the step in which the parties declare their rows.
func countCost(_ method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	return collective.AllGatherCost(s, len(encodeCount(0, 0))), nil
}

// sumsCost returns the formula of the step that adds up moments. Each direction gives two features of a
// row, the cosine and the sine of a product over all columns. The products of the features with each other
// are summed. A party keeps its own sums for the membership attack.
func sumsCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		c, err := secagg.Cost(s, secagg.Limits{})
		if err != nil {
			return protocol.Cost{}, err
		}
		m, targets := expected(sizes).features(j), int64(objectiveOf(j).width())
		square := 8 * int64(m) * int64(m)
		for party, t := range sizes.Tables {
			load := mapping(t.Training(), t.Columns, m)
			load.Products += float64(t.Training()) * float64(m) * float64(m) / 2
			load.Held, load.Kept = square+8*int64(m)*(targets+min(moments.MaxBlock, int64(t.Training()))), square/2+8*targets*int64(m)
			c.Load(party, load)
		}
		for _, server := range s.With(protocol.RoleServer) {
			c.Load(server, protocol.Load{Kept: square})
		}
		c.Warning, err = warningOf(j, sizes)
		return c, err
	}
}

// mapping returns the effort of a party that maps rows to m random features.
func mapping(rows, columns, m int) protocol.Load {
	n, f := float64(rows), float64(m)
	return protocol.Load{Effort: protocol.Effort{Products: n * float64(columns) * f / 2, Functions: n * f}}
}

// solveCost returns the formula of the coordinator's solution. For each value of the regulariser it
// factorises the features' matrix, and it inverts the factor where it chooses among several.
func solveCost(c method.Instance) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, _ *protocol.Session) (protocol.Cost, error) {
		m, values := float64(expected(sizes).features(c.Job)), float64(len(c.Job.Learners()))
		var cost protocol.Cost
		cost.Load(c.Coordinator, protocol.Load{Effort: protocol.Effort{Products: m * m * m * (1./6 + values/2)}, Held: int64(16 * m * m)})
		return cost, nil
	}
}

// errorsCost returns the formula of the step that adds up errors on held-out rows. For the membership
// attack a party factorises its own sums twice, and solves for samples of its rows.
func errorsCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		c, err := secagg.Cost(s, secagg.Limits{})
		m := expected(sizes).features(j)
		cube, square := float64(m)*float64(m)*float64(m), int64(m)*int64(m)
		for party, t := range sizes.Tables {
			sampled := min(membershipSample, t.Training()) + min(membershipSample, t.HeldOut)
			load := mapping(t.HeldOut+sampled, t.Columns, m)
			load.Products += cube/3 + float64(sampled)*float64(square)/2
			load.Held = 16*square + 8*int64(m)*membershipSample
			if j.Data.Private {
				load = mapping(t.HeldOut, t.Columns, m) // nobody measures membership
			}
			c.Load(party, load)
		}
		return c, err
	}
}
