package secagg

import (
	"fmt"
	"math"
	"sort"
)

// Adversary names the attacker model against which a session protects the clients.
type Adversary string

// The attacker models. In both, corrupted clients work with the server.
const (
	SemiHonest Adversary = "semi-honest" // the server follows the protocol, but tries to learn from its messages
	Active     Adversary = "active"      // the server may lie, for example send different lists to different clients
)

// Cohort describes the clients of a session: their number, and the fractions of them that may be
// corrupted or vanish.
type Cohort struct {
	Clients   int
	Corrupted float64 // gamma: fraction of the clients that may collude with the server
	Dropped   float64 // delta: fraction of the clients that may vanish
	Adversary Adversary
	Sigma     float64 // the attack succeeds with probability below 2^-Sigma; 0 means 40
	Eta       float64 // an honest run fails with probability below 2^-Eta; 0 means 20
}

// Degree holds two numbers: how many clients hold shares of one client's secrets, and how many of
// these holders can reconstruct a secret.
type Degree struct {
	Holders   int // k: number of other clients that hold shares of a client's secrets
	Threshold int // t: number of holders that can reconstruct a secret
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

// maxCohort is the largest number of clients for which a degree is computed.
const maxCohort = 10_000_000

func (c Cohort) validate() error {
	switch {
	case c.Clients < 2 || c.Clients > maxCohort:
		return fmt.Errorf("secagg: the session has %d clients; 2 to %d are allowed", c.Clients, maxCohort)
	case c.Adversary != SemiHonest && c.Adversary != Active:
		return fmt.Errorf("secagg: the adversary is %q; write %q or %q", c.Adversary, Active, SemiHonest)
	case !(c.Corrupted >= 0 && c.Corrupted < 1) || !(c.Dropped >= 0 && c.Dropped < 1):
		return fmt.Errorf("secagg: the fraction of corrupted clients is %v and the fraction of dropped clients is %v; both must be at least 0 and below 1", c.Corrupted, c.Dropped)
	case c.Adversary == SemiHonest && c.Corrupted+c.Dropped > .9 || c.Adversary == Active && c.Corrupted+2*c.Dropped > .9:
		return fmt.Errorf("secagg: the fractions of corrupted clients (%v) and dropped clients (%v) are too large for any guarantee; lower them", c.Corrupted, c.Dropped)
	case !(c.Sigma > 0 && c.Sigma <= 128) || !(c.Eta > 0 && c.Eta <= 128):
		return fmt.Errorf("secagg: sigma is %v and eta is %v; both must be above 0 and at most 128", c.Sigma, c.Eta)
	}
	return nil
}

// Degree returns the least even number of holders for which a random graph is secure and robust. Such a
// graph resists the corrupted clients except with probability 2^-Sigma, and survives the dropped
// clients except with probability 2^-Eta (Bell et al. 2020, section 3.5, with exact tail bounds of
// the hypergeometric distribution). If no sparse graph suffices, every client shares with all
// clients.
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
	return c.completeDegree()
}

// clientsIn returns the number of clients in the given fraction of all clients. It tolerates
// rounded decimals.
func (c Cohort) clientsIn(part float64) int {
	return int(math.Floor((part + 1e-14) * float64(c.Clients)))
}

func (c Cohort) survivors() int { return c.Clients - c.clientsIn(c.Dropped) }

// threshold returns the least threshold that is safe with k holders. It also reports whether that
// threshold survives the dropped clients.
func (c Cohort) threshold(k int) (int, bool) {
	n, p := float64(c.Clients), math.Exp2(-c.Sigma-1)
	if !c.connected(k, p) {
		return 0, false
	}
	safe := hypergeometric{c.Clients, c.clientsIn(c.Corrupted), k}.upperQuantile(p / n)
	if c.Adversary == Active { // an active server must not get enough signatures for two different lists
		safe = int(math.Ceil((float64(safe+k) - 1.25) / 2))
	}
	live := hypergeometric{c.Clients, c.survivors(), k}.lowerQuantile(math.Exp2(-c.Eta) / n)
	return max(safe+1, 2), safe < live
}

// connected reports whether the graph of the honest survivors is connected with probability at
// least 1-p. To disconnect a ring, two disjoint runs of k/2 clients must be corrupted or dropped.
func (c Cohort) connected(k int, p float64) bool {
	bad := c.clientsIn(c.Corrupted) + c.clientsIn(c.Dropped)
	if k > bad {
		return true
	}
	n := float64(c.Clients)
	log := math.Log(n*(n-float64(k)-1)/2) + logChoose(bad, k) - logChoose(c.Clients, k)
	return log < math.Log(p)
}

// lostSigma is the largest number of bits of security that a session may lose if the server leaves
// out honest clients.
const lostSigma = 8

// leastCohort returns the least number of clients with which a session may start. The degree
// assumes that corrupted clients are spread over all clients. An active server could leave out as
// many honest clients as may vanish, and so raise the fraction of corrupted clients. The threshold
// of a complete graph assumes the worst case anyway.
func (c Cohort) leastCohort(d Degree) int {
	if c.Adversary != Active || d.Complete {
		return c.survivors()
	}
	return c.survivors() + sort.Search(c.Clients-c.survivors(), func(more int) bool {
		return c.sigmaOf(d, c.survivors()+more) >= c.Sigma-lostSigma
	})
}

// sigmaOf returns the security, in bits, of a cohort that includes all corrupted clients. With
// probability at most 2^-sigma, some client has enough corrupted holders to reveal both its
// secrets.
func (c Cohort) sigmaOf(d Degree, cohort int) float64 {
	drawn := min(d.Holders, cohort-1)
	h, p := hypergeometric{cohort, min(c.clientsIn(c.Corrupted), cohort), drawn}, 0.0
	for x := max(2*d.Threshold-drawn, h.least()); x <= h.most(); x++ {
		p += h.at(x)
	}
	return -math.Log2(p * float64(cohort))
}

// completeDegree returns the degree of a complete graph, in which every client holds shares of all
// clients' secrets, including its own. The threshold is the highest that survives the dropped
// clients. It is out of the corrupted clients' reach, since the fractions leave a tenth of the
// clients: see validate.
func (c Cohort) completeDegree() (Degree, error) {
	t := c.survivors()
	if t < 2 {
		return Degree{}, fmt.Errorf("secagg: %d clients are too few if the fraction %v of them may be corrupted and %v may vanish; use more clients or lower fractions", c.Clients, c.Corrupted, c.Dropped)
	}
	return Degree{Holders: c.Clients - 1, Threshold: t, Complete: true}, nil
}

// hypergeometric is the distribution of the number of marked items among drawn items.
type hypergeometric struct{ total, marked, drawn int }

func (h hypergeometric) least() int { return max(0, h.drawn-(h.total-h.marked)) }
func (h hypergeometric) most() int  { return min(h.drawn, h.marked) }

// mode returns the most probable number of marked items.
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

// negligible limits the probability that tailFromMode leaves out, as a fraction of p.
const negligible = 1e-12

// upperQuantile returns the least x that the number of marked items exceeds with probability at most p.
// p must be below the probability of the mode.
func (h hypergeometric) upperQuantile(p float64) int {
	upper := h.tailFromMode(p, h.most()-h.mode(), func(i int) float64 { return h.ratio(h.mode() + i) })
	return h.mode() + crossing(upper, p)
}

// lowerQuantile returns the largest x such that the number of marked items is below x with probability
// at most p. p must be below the probability of the mode.
func (h hypergeometric) lowerQuantile(p float64) int {
	lower := h.tailFromMode(p, h.mode()-h.least(), func(i int) float64 { return 1 / h.ratio(h.mode()-i-1) })
	return h.mode() - crossing(lower, p)
}

// tailFromMode returns the probabilities of the mode and of the values that follow it in one
// direction. It ends at the last value whose probability is not negligible.
func (h hypergeometric) tailFromMode(p float64, steps int, ratio func(i int) float64) []float64 {
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

// crossing returns the largest index i for which tail[i] and all later values sum to more than p.
// It adds the smallest values first.
func crossing(tail []float64, p float64) int {
	sum := 0.0
	for i := len(tail) - 1; i > 0; i-- {
		if sum += tail[i]; sum > p {
			return i
		}
	}
	return 0
}

// logChoose returns the logarithm of the binomial coefficient "n choose k", for 0 <= k <= n.
func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
