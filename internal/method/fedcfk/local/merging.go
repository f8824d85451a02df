package local

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"

	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// merging holds the state of a job in mode paper and of the attacks that its server could run.
type merging struct {
	*people
	devices   []*PaperDevice
	catalogue []int // all items
	estimate  *Estimate
	offer     *Offer
	truth     *Offer // kernel computed from all people's lists
	exact     bool

	readings     Readings
	differences  *Differences
	intersection *Intersection
}

// rounds runs all rounds of the job. In each round some people add their lists, and all people
// request rows.
func (m *merging) rounds(ctx context.Context) (err error) {
	if m.truth, err = m.pooledEstimate().Offer(m.Job.Kernel); err != nil {
		return err
	}
	for round := 1; round <= m.setting.Keys().Rounds; round++ {
		if err := m.round(ctx, round, m.drawPeople(round)); err != nil {
			return err
		}
	}
	return nil
}

// pooledEstimate returns the estimate from one round in which all people take part.
func (m *merging) pooledEstimate() *Estimate {
	e, plain := NewEstimate(m.setting.Items), m.countPairs(m.Names)
	var pairs []int64
	for i := range m.setting.Items {
		pairs = append(pairs, plain[i*m.setting.Items+i:(i+1)*m.setting.Items]...)
	}
	e.Merge(pairs, len(m.Names))
	return e
}

// drawPeople draws the names of the people who take part in a round.
func (m *merging) drawPeople(round int) []string {
	keys := m.setting.Keys()
	if keys.Once {
		order, groups := m.drawOrder(0), keys.Groups()
		return m.namesOf(order[(round-1)*len(order)/groups : round*len(order)/groups])
	}
	order := m.drawOrder(round)
	return m.namesOf(order[:max(2, sums.Share(keys.Participation, len(order)))])
}

// drawOrder draws a random order of all people for a round.
func (m *merging) drawOrder(round int) []int {
	seed := sha256.Sum256(fmt.Appendf(nil, "mercer/v1/round/%d/%d", m.Job.Seed, round))
	return prg.New(seed, "simulate/round").Perm(len(m.Names))
}

// namesOf returns the names of the chosen people, in the order of all people.
func (m *merging) namesOf(chosen []int) []string {
	slices.Sort(chosen)
	names := make([]string, len(chosen))
	for i, at := range chosen {
		names[i] = m.Names[at]
	}
	return names
}

func (m *merging) round(ctx context.Context, number int, names []string) error {
	s, err := Round(m.setting, m.Roster, number, names)
	if err != nil {
		return err
	}
	sum, err := m.Sum(ctx, s, m.Leaving(s), func(i int) secagg.Vector { return m.devices[i].Square(m.catalogue) })
	if err != nil {
		return err
	}
	return m.take(number, sum)
}

// take adds the sum of a round to the estimate. Then all devices request rows.
func (m *merging) take(number int, sum *clients.Sum) (err error) {
	m.figures.Sums = append(m.figures.Sums, sum.Figures())
	m.exact = m.exact && m.exactPairs(sum, m.catalogue, 0)
	m.attackSum(sum)
	if m.setting.Keys().Once {
		m.estimate.Add(sum.Sums[0], len(sum.Added))
	} else {
		m.estimate.Merge(sum.Sums[0], len(sum.Added))
	}
	if m.offer, err = m.estimate.Offer(m.Job.Kernel); err != nil {
		return err
	}
	m.figures.Paper.KernelErrors = append(m.figures.Paper.KernelErrors, m.offer.Error(m.truth))
	m.requestRows(number)
	return nil
}

// attackSum passes a round's sum to the server's two attacks on sums.
func (m *merging) attackSum(sum *clients.Sum) {
	group := make([]int, len(sum.Added))
	for i, name := range sum.Added {
		group[i] = m.Place[name]
	}
	m.differences.Add(group)
	m.readings.Add(SoleLists(m.setting.Items, sum.Sums[0]), sum.Added)
}

// requestRows makes every device request rows. The server counts the requests for its attack.
func (m *merging) requestRows(round int) {
	requests := make([][]int, len(m.devices))
	linalg.For(len(requests), 4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			requests[i] = m.devices[i].Request()
			m.devices[i].Keep(round, requests[i], m.offer.Rows(requests[i]))
		}
	})
	m.intersection.Begin()
	for i, items := range requests {
		m.intersection.Count(i, items)
		m.figures.Paper.Requested += uint64(len(items))
	}
}

// learn writes the estimated kernel as the model.
func (m *merging) learn(context.Context) error {
	kernel := m.offer.ItemKernel()
	if err := m.save(kernel.Encode()); err != nil {
		return err
	}
	c := m.figures
	c.Kept = len(kernel.Kept)
	for _, s := range c.Sums {
		c.Paper.Added += s.Added
	}
	for _, profile := range m.train {
		m.result.Training += len(profile)
	}
	return nil
}

// evaluate makes every device recommend from its stored rows.
func (m *merging) evaluate(context.Context) error {
	var saddles atomic.Int64
	err := m.recommend(func(user int) ([]float64, error) {
		scores, convex, err := m.devices[user].Rank(m.offer.Mean, learner.ProfileOf(m.Job).Lambda)
		if !convex && err == nil {
			saddles.Add(1)
		}
		return scores, err
	})
	m.figures.Paper.Indefinite = int(saddles.Load())
	return err
}

// compare adds the success of the attacks, the leakage statement and the pooled metrics to the
// result.
func (m *merging) compare(context.Context) error {
	m.result.Exact = &m.exact
	m.judge(m.figures.Paper)
	people := len(m.Names)
	m.result.Leakage, m.result.Exposures = leakage(m.setting, people, *m.figures.Paper), exposures(m.setting, people, *m.figures.Paper)
	return m.learnPooled()
}

func (m *merging) judge(p *fedcfk.PaperFigures) {
	p.ListsRead, p.ListsNamed = m.readings.Count()
	p.Solved = len(m.differences.Solved())
	guessed, right, liked := 0, 0, 0
	for i, profile := range m.train {
		liked += len(profile)
		for _, item := range m.intersection.Guess(i) {
			guessed++
			if _, is := slices.BinarySearch(profile, item); is {
				right++
			}
		}
	}
	p.GuessPrecision, p.GuessRecall = share(right, guessed), share(right, liked)
}

func share(part, whole int) float64 { return float64(part) / float64(max(1, whole)) }
