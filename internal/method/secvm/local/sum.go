package local

import (
	"context"
	"fmt"
	"slices"

	crowd "github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// summing turns windows into sums.
type summing struct {
	*clients.Clients
	windows crowd.Summed
	sums    []sums.Figures
	exact   bool // every sum so far equals the sum of the plain packages
}

// sumUp calls all devices, also those that vanished from earlier windows, and adds up their
// vectors.
func (r *records) sumUp(ctx context.Context, iteration uint32, published []float64) (*secvm.Sum, error) {
	s, err := r.summing.windows.Window(iteration, published, r.summing.Names)
	if err != nil {
		return nil, err
	}
	call := crowd.Call{Iteration: iteration, Weights: published, Devices: r.summing.Names, Session: s.Session.ID()}
	summands, err := r.summands(call)
	if err != nil {
		return nil, err
	}
	done, err := r.summing.Sum(ctx, s, r.summing.Leaving(s), func(device int) secagg.Vector { return summands[device] })
	if err != nil {
		return nil, err
	}
	sum, err := secvm.NewSum(r.server.Params(), done.Sums, len(done.Added))
	if err != nil {
		return nil, err
	}
	r.summing.sums = append(r.summing.sums, done.Figures())
	return sum, r.compareSum(sum, done.Added, call)
}

// summands has every device look at a call and answer it.
func (r *records) summands(call crowd.Call) ([]secvm.Summand, error) {
	list, errs := make([]secvm.Summand, len(r.devices)), make([]error, len(r.devices))
	linalg.For(len(list), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			_, weights, err := r.summing.windows.Accept(call)
			if err == nil {
				list[i], err = r.devices[i].Summand(weights)
			}
			errs[i] = err
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, fmt.Errorf("%s: %w", r.summing.Names[i], errs[i]) // all were called alike
	}
	return list, nil
}

// compareSum holds a sum against the packages of those who are in it.
func (r *records) compareSum(s *secvm.Sum, added []string, call crowd.Call) error {
	weights, err := r.server.Params().Weights(call.Weights)
	if err != nil {
		return err
	}
	plain := secvm.NewTally(r.server.Params())
	for _, name := range added {
		if err := r.deliver(plain, r.summing.Place[name], call.Iteration, weights); err != nil {
			return err
		}
	}
	want, _, err := plain.Gradient(1, 1)
	if err != nil {
		return err
	}
	got, _, err := s.Gradient(1, 1)
	r.summing.exact = r.summing.exact && slices.Equal(got, want) && s.Census == plain.Census
	return err
}
