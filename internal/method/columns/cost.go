package columns

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// cost is the formula of the step that matches the rows. A party that only compares its table brings
// one id.
func (a alignment) cost(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	if a.onlyCompare {
		return psi.Cost(s, func(string) int { return 1 }, 1), nil
	}
	return psi.Cost(s, func(party string) int { return sizes.Tables[party].Rows }, sizes.Common), nil
}

// declarationCost is the formula of the exchange of declarations.
func declarationCost(_ method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	return collective.AllGatherCost(s, len(Declaration{}.encode())), nil
}

// learningCost returns the formula of a stage in which the coordinator learns.
func learningCost(c method.Instance, stage string) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(s method.Sizes, _ *protocol.Session) (protocol.Cost, error) {
		train, test, err := Sizes(c.Job, s.Common)
		return c.LearningCost(stage, train, test, s.Classes()), err
	}
}

// Foresee returns the declarations that parties with tables of the given sizes will make, as far as
// the sizes of messages depend on them.
func Foresee(c method.Instance, s method.Sizes) (Declared, error) {
	var d Declared
	for _, party := range c.Parties {
		t := s.Tables[party]
		one := Declaration{Rows: s.Common, Columns: gram.Holder{Columns: t.Columns, Exponent: t.Exponent, Whole: t.Whole}}
		if t.Labels {
			one.Labels = len(EncodeLabels(labelsOf(t.Classes, s.Common)))
		}
		d.List = append(d.List, one)
	}
	return d, nil
}

// labelsOf returns labels of n rows, in which the classes take turns.
func labelsOf(classes []string, n int) []string {
	return slices.Repeat(classes, n/max(1, len(classes))+1)[:n]
}

// SizeOf counts a party's table. It prepares and scales all rows as the party will prepare the common
// rows. So the exponent can differ from the exponent of the common rows.
func SizeOf(j *job.Job, party string, t method.Table) (method.TableSize, error) {
	set, err := tableOf(j, party, t.Set)
	if err != nil {
		return method.TableSize{}, err
	}
	split, scaling, err := PrepareAlone(j, method.Split{Set: set, Test: make([]bool, set.X.Rows())})
	if err != nil {
		return method.TableSize{}, err
	}
	rows := dataset.RowsOf(split.Set.X)
	if scaling.Offset != nil {
		rows = scaling.Rows(rows)
	}
	s := method.SizeOf(split.Set)
	h, err := holderOf(rows)
	if s.Exponent, s.Whole = h.Exponent, h.Whole; err != nil {
		s.Exponent = gram.MaxExponent + 1 // too large for protocol gram, which then refuses it
	}
	return s, nil
}
