package sealed

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/sealed"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// foresee returns the public values of a job over tables of the given sizes.
func foresee(c method.Instance, s method.Sizes) (public, error) {
	k := expected(c.Parties, s)
	if _, err := k.params(c); err != nil {
		return public{}, fault.BadInput(err)
	}
	return k, nil
}

func expected(parties []string, s method.Sizes) public {
	k := public{columns: s.Most(func(t method.TableSize) int { return t.Columns })}
	for _, name := range parties {
		k.rows = append(k.rows, s.Tables[name].Training())
	}
	return k
}

// countCost is the formula of the step in which the parties declare their rows.
func countCost(_ method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	return collective.AllGatherCost(s, len(declaration{}.encode())), nil
}

// drawCost is the formula of the step in which the parties show their tokens.
func drawCost(_ method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	return collective.AllGatherCost(s, len(token{})), nil
}

// computeCost returns the formula of the step that computes the weights. Each party maps its rows
// to features and adds up their products; the rest is the protocol's.
func computeCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		c, err := costOf(sizes, s)
		if err == nil {
			c.Warning, err = warningOf(j, s)
		}
		return c, err
	}
}

func costOf(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	c, err := sealed.Cost(s)
	if err != nil {
		return protocol.Cost{}, err
	}
	params, err := sealed.DecodeParams(s.Params)
	if err != nil {
		return protocol.Cost{}, err
	}
	m := params.Features
	for party, t := range sizes.Tables {
		load := mapping(t.Training(), t.Columns, m)
		load.Products += float64(t.Training()) * float64(m) * float64(m) / 2
		load.Held = 8 * int64(m) * (int64(m) + int64(min(moments.MaxBlock, t.Training())))
		c.Load(party, load)
	}
	return c, nil
}

// mapping returns the effort of a party that maps rows to m random features.
func mapping(rows, columns, m int) protocol.Load {
	n, f := float64(rows), float64(m)
	return protocol.Load{Effort: protocol.Effort{Products: n * float64(columns) * f / 2, Functions: n * f}}
}

// errorsCost returns the formula of the step that adds up errors on held-out rows.
func errorsCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		c, err := secagg.Cost(s, secagg.Limits{})
		parties := slices.DeleteFunc(s.With(protocol.RoleParty), func(name string) bool { return sizes.Tables[name].Rows == 0 })
		m := expected(parties, sizes).features(j)
		for party, t := range sizes.Tables {
			c.Load(party, mapping(t.HeldOut, t.Columns, m))
		}
		return c, err
	}
}
