package bench

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/learn/linear"
)

// growth holds sizes of which one dimension grows; each training takes the given number of
// passes, so that all learn alike.
type growth struct {
	what   string
	sizes  []cachedSize
	passes int
}

func (g growth) race() (race, error) {
	var r race
	for _, size := range g.sizes {
		c, err := newClouds(size.rows, size.columns)
		if err != nil {
			return race{}, err
		}
		r.runs = append(r.runs, func(context.Context) error {
			p := linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6, Tol: 1e-12, MaxPasses: g.passes}
			_, err := c.train(size, p)
			return err
		})
	}
	r.rows = func(best []span) []Row {
		var rows []Row
		for i, size := range g.sizes {
			row := figure(fmt.Sprintf("growth with %s: %v, processor time", g.what, size), best[i].cpu, "s")
			if times := 1 << i; i > 0 {
				row = row.beside(fmt.Sprintf("%d times the figure of 1/%d of the %s", times, times, g.what), float64(times)*best[0].cpu).atMost(linearly)
			}
			rows = append(rows, row)
		}
		return rows
	}
	return r, nil
}

// linearly bounds the growth of time relative to proportional growth.
const linearly = 1.15
