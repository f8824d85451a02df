package rows

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// weightBytes is the number of bytes that a row's weight takes in a message.
const weightBytes = 8

// WeightSteps returns the step in which parties send the weights of their training rows to the
// coordinator. It returns none if the job's rows have no weights. The members' public value is a
// [Total], as in [FoldSteps].
func WeightSteps[P, S any](c method.Instance, party func(*P, method.Setup) (*method.Run, error), server func(*S, method.Setup) (*method.Run, error)) []method.StepOf[P, S, Total] {
	if c.Job.Data.Weight == "" {
		return nil
	}
	return []method.StepOf[P, S, Total]{gatherStep("weights", weightBytes, c, party, server, method.ReleaseWeights)}
}

// WeightSender builds the machine with which a party sends the weights of its rows. It sends 0 in
// place of the weight of a held-out row and of a negative weight, because neither row trains. total is
// the number of rows of all parties.
func (p *Party) WeightSender(s method.Setup, total int) (*method.Run, error) {
	var w wire.Writer
	for i, held := range p.Split.Test {
		v := max(0, p.Split.Set.Weights[i])
		if held {
			v = 0
		}
		w.Uint64(math.Float64bits(v))
	}
	return gatherParty(s, w.Bytes(), weightBytes*total)
}

// WeightListener builds the machine with which the coordinator receives the weights. The arguments
// are as in [FoldListener].
func WeightListener(s method.Setup, c method.Instance, counts []int, test []bool, take func(weights []float64)) (*method.Run, error) {
	return gatherServer(s, func(bodies [][]byte) error {
		weights, err := readWeights(c, bodies, counts, test)
		if err == nil {
			take(weights)
		}
		return err
	})
}

// errNoWeight is the error if no party has a training row with a weight above 0.
var errNoWeight = fault.BadInput(errors.New("no training row of any party has a weight above 0; correct the weights"))

// readWeights decodes the weights of the rows of all parties.
func readWeights(c method.Instance, bodies [][]byte, counts []int, test []bool) (weights []float64, err error) {
	some := false
	for i, body := range bodies {
		own, err := readWeight(body, test[len(weights):len(weights)+counts[i]])
		if err != nil {
			return nil, protocol.Blame(c.Parties[i], protocol.KindMalformed, err)
		}
		for _, w := range own {
			some = some || w > 0
		}
		weights = append(weights, own...)
	}
	if !some {
		return nil, errNoWeight
	}
	return weights, nil
}

// readWeight decodes the weights of one party's rows.
func readWeight(body []byte, test []bool) ([]float64, error) {
	r, weights := wire.NewReader(body), make([]float64, len(test))
	for i, held := range test {
		w := math.Float64frombits(r.Uint64())
		if r.Err() == nil && (!(w >= 0 && w <= dataset.MaxMagnitude) || held && w > 0) {
			r.Fail(fmt.Errorf("row %d has weight %v and its held-out flag is %t; a weight is from 0 to %g, and 0 for a held-out row", i, w, held, dataset.MaxMagnitude))
		}
		weights[i] = w
	}
	for r.Err() == nil && r.Len() > 0 {
		if r.Uint64() != 0 {
			r.Fail(fmt.Errorf("the message has a weight for a row after the last of %d rows", len(test)))
		}
	}
	return weights, r.Close("rows: weights")
}

// weightLeakage describes what the coordinator learns if rows have weights.
func weightLeakage(j *job.Job) map[string][]string {
	if j.Data.Weight == "" {
		return nil
	}
	return map[string][]string{"server": {fmt.Sprintf(
		"The server learns the weight of each training row exactly (column %s), and that a row with weight 0 or less does not train. It learns no weight of a held-out row. Parties learn no weights of each other.",
		dataset.Quote(j.Data.Weight))}}
}
