package secagg

import (
	"fmt"
	"math"
	"sort"
)

// Adversary names the attacker that the clients must withstand.
type Adversary string

// The models. In both, corrupted clients work with the server.
const (
	SemiHonest Adversary = "semi-honest" // the server follows the protocol and looks on
	Active     Adversary = "active"      // the server may tell different clients different things
)

// Cohort describes the clients of a session and what may become of them.
type Cohort struct {
	Clients   int
	Corrupted float64 // gamma: share of the clients that work with the server
	Dropped   float64 // delta: share of the clients that may vanish
	Adversary Adversary
	Sigma     float64 // the attack succeeds with probability below 2^-Sigma; 0 means 40
	Eta       float64 // an honest run fails with probability below 2^-Eta; 0 means 20
}

// Degree says with whom a client shares.
type Degree struct {
	Holders   int // k: how many others hold shares of a client's secrets
	Threshold int // t: how many of them can put a secret together
	Complete  bool
}

func (c Cohort) orDefault() Cohort {
	if c.Sigma == 0 {
		c.Sigma = 40
	}
	if c.Eta == 0 {
		c.Eta = 20
	}
	return c
}

// maxCohort is the number of clients at which the search for a degree ends.
const maxCohort = 10_000_000

func (c Cohort) validate() error {
	switch {
	case c.Clients < 2 || c.Clients > maxCohort:
		return fmt.Errorf("secagg: %d clients, there must be from 2 to %d", c.Clients, maxCohort)
	case c.Adversary != SemiHonest && c.Adversary != Active:
		return fmt.Errorf("secagg: there is no adversary %q; write %s or %s", c.Adversary, Active, SemiHonest)
	case !(c.Corrupted >= 0 && c.Corrupted < 1) || !(c.Dropped >= 0 && c.Dropped < 1):
		return fmt.Errorf("secagg: %v of the clients corrupted and %v dropped; both are shares from 0 to below 1", c.Corrupted, c.Dropped)
	case c.Adversary == SemiHonest && c.Corrupted+c.Dropped > .9 || c.Adversary == Active && c.Corrupted+2*c.Dropped > .9:
		return fmt.Errorf("secagg: too many clients corrupted (%v) and dropped (%v): nothing can be promised", c.Corrupted, c.Dropped)
	case !(c.Sigma > 0 && c.Sigma <= 128) || !(c.Eta > 0 && c.Eta <= 128):
		return fmt.Errorf("secagg: sigma is %v and eta %v; both are above 0 and at most 128", c.Sigma, c.Eta)
	}
	return nil
}

// Degree returns the least number of share-holders with which all but a share
// of 2^-Sigma of the graphs resist the corrupted clients, and all but 2^-Eta
// survive the dropped ones (Bell et al. 2020, section 3.5, with the tail bounds
// of the hypergeometric distribution taken exactly). Where no sparse graph does
// it, everybody shares with everybody.
func (c Cohort) Degree() (Degree, error) {
	c = c.orDefault()
	if err := c.validate(); err != nil {
		return Degree{}, err
	}
	for k := 2; k < c.Clients-1; k += 2 {
		if t, ok := c.threshold(k); ok {
			return Degree{Holders: k, Threshold: t}, nil
		}
	}
	return c.complete()
}

// share counts a share of the clients, forgiving it the rounding of a decimal.
func (c Cohort) share(part float64) int { return int(math.Floor((part + 1e-14) * float64(c.Clients))) }

func (c Cohort) survivors() int { return c.Clients - c.share(c.Dropped) }

// threshold returns the least safe threshold with k holders, if there is one
// that survives the dropped clients.
func (c Cohort) threshold(k int) (int, bool) {
	n, p := float64(c.Clients), math.Exp2(-c.Sigma-1)
	if !c.connected(k, p) {
		return 0, false
	}
	safe := hypergeometric{c.Clients, c.share(c.Corrupted), k}.aboveAtMost(p / n)
	if c.Adversary == Active { // two stories cannot both find a threshold of holders
		safe = int(math.Ceil((float64(safe+k) - 1.25) / 2))
	}
	live := hypergeometric{c.Clients, c.survivors(), k}.reachedBut(math.Exp2(-c.Eta) / n)
	return max(safe+1, 2), safe < live
}

// connected says that the honest survivors are connected with probability 1-p:
// on a ring, two disjoint runs of k/2 others would have to be corrupted or
// dropped.
func (c Cohort) connected(k int, p float64) bool {
	bad := c.share(c.Corrupted) + c.share(c.Dropped)
	if k > bad {
		return true
	}
	n := float64(c.Clients)
	log := math.Log(n*(n-float64(k)-1)/2) + logChoose(bad, k) - logChoose(c.Clients, k)
	return log < math.Log(p)
}

// lostSigma bounds the part of sigma that a server may gain by choosing who takes part.
const lostSigma = 8

// leastCohort returns how many clients must be there at the beginning. The
// degree counts with corrupted holders as they fall among all clients; an
// active server would leave out as many honest ones as the clients stand for,
// and have a larger share of corrupted ones among the others. A threshold in a
// complete graph counts with all of them anyway.
func (c Cohort) leastCohort(d Degree) int {
	if c.Adversary != Active || d.Complete {
		return c.survivors()
	}
	return c.survivors() + sort.Search(c.Clients-c.survivors(), func(more int) bool {
		return c.resists(d, c.survivors()+more) >= c.Sigma-lostSigma
	})
}

// resists returns the sigma with which no client of a cohort that holds all the
// corrupted ones has enough of them among its holders that both its secrets
// can be put together.
func (c Cohort) resists(d Degree, cohort int) float64 {
	drawn := min(d.Holders, cohort-1)
	h, p := hypergeometric{cohort, min(c.share(c.Corrupted), cohort), drawn}, 0.0
	for x := max(2*d.Threshold-drawn, h.least()); x <= h.most(); x++ {
		p += h.at(x)
	}
	return -math.Log2(p * float64(cohort))
}

// complete shares among all clients, each holding a share of its own secret
// too. The threshold is the highest that survives the dropped ones.
func (c Cohort) complete() (Degree, error) {
	t, corrupted := c.survivors(), c.share(c.Corrupted)
	if t < 2 || t <= corrupted || c.Adversary == Active && 2*t <= c.Clients+corrupted {
		return Degree{}, fmt.Errorf("secagg: %d clients are too few for %v corrupted and %v dropped", c.Clients, c.Corrupted, c.Dropped)
	}
	return Degree{Holders: c.Clients - 1, Threshold: t, Complete: true}, nil
}

// hypergeometric counts how many of the marked ones are among those drawn.
type hypergeometric struct{ total, marked, drawn int }

func (h hypergeometric) least() int { return max(0, h.drawn-(h.total-h.marked)) }
func (h hypergeometric) most() int  { return min(h.drawn, h.marked) }

// mode returns the number that has the largest probability.
func (h hypergeometric) mode() int {
	m := int((float64(h.drawn) + 1) * (float64(h.marked) + 1) / (float64(h.total) + 2))
	return min(max(m, h.least()), h.most())
}

func (h hypergeometric) at(x int) float64 {
	return math.Exp(logChoose(h.marked, x) + logChoose(h.total-h.marked, h.drawn-x) - logChoose(h.total, h.drawn))
}

// ratio returns the probability of x+1 divided by the probability of x.
func (h hypergeometric) ratio(x int) float64 {
	return float64(h.marked-x) * float64(h.drawn-x) / (float64(x+1) * float64(h.total-h.marked-h.drawn+x+1))
}

// negligible is the part that tails leave out, as a share of the bound they are held to.
const negligible = 1e-12

// aboveAtMost returns the least x with P(X > x) <= p, for p below the
// probability of the mode.
func (h hypergeometric) aboveAtMost(p float64) int {
	upper := h.walk(p, h.most()-h.mode(), func(i int) float64 { return h.ratio(h.mode() + i) })
	return h.mode() + crossing(upper, p)
}

// reachedBut returns the largest x with P(X < x) <= p, for p below the
// probability of the mode.
func (h hypergeometric) reachedBut(p float64) int {
	lower := h.walk(p, h.mode()-h.least(), func(i int) float64 { return 1 / h.ratio(h.mode()-i-1) })
	return h.mode() - crossing(lower, p)
}

// walk lists the probabilities from the mode outwards, as far as they matter.
func (h hypergeometric) walk(p float64, steps int, ratio func(i int) float64) []float64 {
	values := []float64{h.at(h.mode())}
	for i := range steps {
		next := values[i] * ratio(i)
		if next < p*negligible/float64(h.total) {
			break
		}
		values = append(values, next)
	}
	return values
}

// crossing returns the index at which the sum of a tail, the smallest values
// first, exceeds p.
func crossing(tail []float64, p float64) int {
	sum := 0.0
	for i := len(tail) - 1; i > 0; i-- {
		if sum += tail[i]; sum > p {
			return i
		}
	}
	return 0
}

// logChoose is log binom(n, k) for 0 <= k <= n.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
