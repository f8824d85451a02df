package komd

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Name is the name of a kernel that compares items.
type Name string

// These are the kernels of items i and j. C is the matrix of [Counts]; a formula without indices uses
// its entry C_ij. The Boolean kernels (Polato and Aiolli 2018) compare items by the formulas over users
// that are true for both items.
const (
	Linear      Name = "linear"      // cosine between the items' columns, which FedCFK uses
	Polynomial  Name = "polynomial"  // (C + coef0)^degree without its constant term
	DotProduct  Name = "dot-product" // sum of Coefficients[d] C^d without its constant term
	Tanimoto    Name = "tanimoto"    // users who liked both items, as a share of users who liked either
	RBF         Name = "rbf"         // exp(-gamma (C_ii + C_jj - 2 C_ij))
	Conjunctive Name = "conjunctive" // counts the sets of Degree users who all liked both items
	Disjunctive Name = "disjunctive" // counts the sets of Degree users of whom at least one liked each item
	DNF         Name = "dnf"         // disjunctions of Degree conjunctions, each of Clause users
	CNF         Name = "cnf"         // conjunctions of Degree disjunctions, each of Clause users
)

// MaxDegree is the greatest Degree and Clause. Beyond it, values could overflow float64.
const MaxDegree = 20

// Spec holds a kernel's name and parameters. Parameters that the kernel does not use are ignored.
type Spec struct {
	Name   Name
	Degree int     // degree of Polynomial and of the Boolean kernels, 1 to MaxDegree
	Clause int     // number of users of a clause of DNF and CNF, 1 to MaxDegree
	Coef0  float64 // constant of Polynomial, 0 or more
	Gamma  float64 // factor in RBF, above 0
	// Coefficients lists the factors of the powers of the count in DotProduct, from the constant
	// term on. It has 2 to MaxDegree + 1 numbers, none below 0, the last above 0.
	Coefficients []float64
}

// Validate returns an error for an unknown kernel or an invalid parameter.
func (s Spec) Validate() error {
	_, err := s.values(1)
	return err
}

// Kernel returns the normalised kernel between all pairs of items. The matrix is items x items,
// with ones on the diagonal. An item that no user liked, or whose kernel value with itself is 0, has only
// zeros, also on the diagonal. Kernel refuses a count of an item above the number of people, and a count of
// both items above that of one of them; sums of products of ratings have the corresponding bounds.
func (s Spec) Kernel(c Counts) (linalg.Matrix[float64], error) {
	values, err := s.values(float64(c.Users))
	if err != nil {
		return linalg.Matrix[float64]{}, err
	}
	if c.Most > 0 && !s.ofProducts() {
		return linalg.Matrix[float64]{}, fmt.Errorf("komd: kernel %s compares lists of items, but the users gave ratings; use linear, polynomial, dot-product or rbf", s.Name)
	}
	if err := c.check(); err != nil {
		return linalg.Matrix[float64]{}, err
	}
	k := linalg.New[float64](c.C.Rows, c.C.Rows)
	linalg.Each(k.Rows, 16, func(i int) {
		c.row(i, values, k.Row(i)[:i+1])
	})
	for i := range k.Rows {
		for j := range i {
			k.Row(j)[i] = k.Row(i)[j]
		}
	}
	return k, nil
}

// ofProducts reports whether the kernel depends only on inner products. These exist for ratings,
// too, not just for lists of items.
func (s Spec) ofProducts() bool {
	return s.Name == Linear || s.Name == Polynomial || s.Name == DotProduct || s.Name == RBF
}

// row sets dst to the normalised kernel of item i with items 0 to i.
func (c Counts) row(i int, values func(triple) triple, dst []float64) {
	own := c.C.Row(i)
	for j := range dst {
		if jj := c.C.Row(j)[j]; own[i] > 0 && jj > 0 {
			dst[j] = values(triple{own[i], jj, own[j]}).cosine()
		}
	}
}

// triple holds a kernel's values for a pair of items i and j: (i, i), (j, j) and (i, j).
type triple struct{ ii, jj, ij float64 }

// cosine divides the value of the pair by the norms of both items. An item of norm 0 has similarity
// 0 to every item.
func (t triple) cosine() float64 {
	if t.ii <= 0 || t.jj <= 0 {
		return 0
	}
	if t.ii == t.jj && t.ij == t.ii {
		return 1
	}
	return t.ij / (math.Sqrt(t.ii) * math.Sqrt(t.jj))
}

// values returns the kernel as a function of the counts among n users, before normalisation.
func (s Spec) values(n float64) (func(triple) triple, error) {
	all := universe{n}
	switch s.Name {
	case Linear:
		return func(t triple) triple { return t }, nil
	case Tanimoto:
		return tanimoto, nil
	case RBF:
		return s.rbf, positive("gamma", s.Gamma)
	case Polynomial:
		return s.polynomial, errors.Join(notNegative("coef0", s.Coef0), s.checkDegree())
	case DotProduct:
		return s.dotProduct, s.checkCoefficients()
	case Conjunctive:
		return all.applyToShares(all.conjunction(s.Degree)), s.checkDegree()
	case Disjunctive:
		return all.applyToShares(all.disjunction(s.Degree)), s.checkDegree()
	case DNF:
		return all.applyToShares(all.conjunction(s.Clause), all.choose(s.Clause).disjunction(s.Degree)), s.checkClauses()
	case CNF:
		return all.applyToShares(all.disjunction(s.Clause), all.choose(s.Clause).conjunction(s.Degree)), s.checkClauses()
	}
	return nil, fmt.Errorf("komd: kernel %q is not known", s.Name)
}

func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("komd: %s is %v; it must be a finite number above 0", name, v)
	}
	return nil
}

func notNegative(name string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("komd: %s is %v; it must be finite and at least 0", name, v)
	}
	return nil
}

func (s Spec) checkDegree() error { return fromOne("degree", s.Degree) }

func (s Spec) checkClauses() error { return cmp.Or(s.checkDegree(), fromOne("clause", s.Clause)) }

func fromOne(name string, v int) error {
	if v < 1 || v > MaxDegree {
		return fmt.Errorf("komd: %s is %d; it must be from 1 to %d", name, v, MaxDegree)
	}
	return nil
}

func tanimoto(t triple) triple { return triple{1, 1, t.ij / (t.ii + t.jj - t.ij)} }

func (s Spec) rbf(t triple) triple {
	return triple{1, 1, math.Exp(-s.Gamma * max(0, t.ii+t.jj-2*t.ij))}
}

// polynomial computes the polynomial kernel without its constant term, so that items without a
// common user keep the value 0.
func (s Spec) polynomial(t triple) triple {
	d, constant := float64(s.Degree), math.Pow(s.Coef0, float64(s.Degree))
	at := func(x float64) float64 { return math.Pow(x+s.Coef0, d) - constant }
	return triple{at(t.ii), at(t.jj), at(t.ij)}
}

// dotProduct computes the dot-product kernel without its constant term, so that items without a
// common user keep the value 0.
func (s Spec) dotProduct(t triple) triple {
	at := func(x float64) float64 {
		sum := 0.0
		for d := len(s.Coefficients) - 1; d > 0; d-- {
			sum = float64((sum + s.Coefficients[d]) * x)
		}
		return sum
	}
	return triple{at(t.ii), at(t.jj), at(t.ij)}
}

func (s Spec) checkCoefficients() error {
	last := len(s.Coefficients) - 1
	if last < 1 || last > MaxDegree {
		return fmt.Errorf("komd: there are %d coefficients; there must be 2 to %d", last+1, MaxDegree+1)
	}
	if s.Coefficients[last] == 0 {
		return errors.New("komd: the last coefficient is 0; leave it out")
	}
	for _, a := range s.Coefficients {
		if err := notNegative("a coefficient", a); err != nil {
			return err
		}
	}
	return nil
}

// universe holds the number of all formulas of one kind. Boolean kernels compute with the share of
// the formulas that are true for an item, because the number of such formulas could overflow
// float64.
type universe struct{ size float64 }

// choose returns the universe of all sets of d formulas. Its size can overflow to infinity.
func (u universe) choose(d int) universe {
	size := 1.0
	for k := range d {
		size *= (u.size - float64(k)) / float64(k+1)
	}
	return universe{size}
}

// applyToShares returns a function that first divides counts by the universe's size. It then
// applies the given steps to these shares, in order.
func (u universe) applyToShares(steps ...func(triple) triple) func(triple) triple {
	return func(t triple) triple {
		t = triple{t.ii / u.size, t.jj / u.size, t.ij / u.size}
		for _, step := range steps {
			t = step(t)
		}
		return t
	}
}

// conjunction returns a function that computes the share of the sets of d formulas that are all
// true for both items. If c formulas are true for both items, there are binom(c, d) such sets.
func (u universe) conjunction(d int) func(triple) triple {
	return func(t triple) triple {
		return triple{u.shareWithin(t.ii, d), u.shareWithin(t.jj, d), u.shareWithin(t.ij, d)}
	}
}

// disjunction returns a function that computes the share of the sets of d formulas of which each
// item satisfies at least one. It adds the share of the sets with a formula that is true for i and the
// share for j, and subtracts the share of the sets with a formula that is true for i or j.
func (u universe) disjunction(d int) func(triple) triple {
	return func(t triple) triple {
		ii, jj := u.shareMeeting(t.ii, d), u.shareMeeting(t.jj, d)
		return triple{ii, jj, max(0, ii+jj-u.shareMeeting(t.ii+t.jj-t.ij, d))}
	}
}

// shareWithin returns the probability that d random distinct formulas all belong to a set with the
// share x of all formulas. It is binom(x size, d) / binom(size, d).
func (u universe) shareWithin(x float64, d int) float64 {
	share := 1.0
	for k := range d {
		share *= max(0, x-float64(k)/u.size) / (1 - float64(k)/u.size)
	}
	return share
}

// shareMeeting returns the probability that at least one of d random distinct formulas belongs to a
// set with the share x of all formulas. It is 1 - binom(size - x size, d) / binom(size, d), exact
// even for a tiny x.
func (u universe) shareMeeting(x float64, d int) float64 {
	log := 0.0
	for k := range d {
		hit := x / (1 - float64(k)/u.size)
		if hit >= 1 {
			return 1
		}
		log += math.Log1p(-hit)
	}
	return -math.Expm1(log)
}

// Counts holds a number for each pair of items. It is the number of users who liked both items, or
// the sum over users of the product of the ratings of both items.
type Counts struct {
	Users int
	// Most is the greatest rating, or 0 if users have lists without ratings.
	Most int
	C    linalg.Matrix[float64] // items x items, symmetric; the diagonal is the popularity, or the sum of squared ratings
}

// CountsOf computes the counts from all users' profiles in one process. A profile lists the items,
// from 0 to items-1, that one user liked, each once.
func CountsOf(items int, profiles [][]int) Counts {
	c := linalg.New[float64](items, items)
	for _, profile := range profiles {
		for _, i := range profile {
			row := c.Row(i)
			for _, j := range profile {
				row[j]++
			}
		}
	}
	return Counts{Users: len(profiles), C: c}
}

// ProductsOf computes the sums of products of ratings from all users' profiles in one process. User u
// gave item profiles[u][k] the rating ratings[u][k], from 1 to maxRating.
func ProductsOf(items, maxRating int, profiles [][]int, ratings [][]int64) Counts {
	c := linalg.New[float64](items, items)
	for u, profile := range profiles {
		for k, i := range profile {
			row := c.Row(i)
			for l, j := range profile {
				row[j] += float64(ratings[u][k] * ratings[u][l])
			}
		}
	}
	return Counts{Users: len(profiles), Most: maxRating, C: c}
}

// check refuses counts of an item above the number of users, counts of both items above that of one of them,
// and counts that are not symmetric. Counts can come from a secure sum, whose inputs could not be checked.
func (c Counts) check() error {
	if c.C.Rows != c.C.Cols {
		return fmt.Errorf("komd: the matrix of counts is %d x %d; it must be square", c.C.Rows, c.C.Cols)
	}
	if c.Most > 0 {
		return c.checkProducts()
	}
	for i := range c.C.Rows {
		own := c.C.Row(i)[i]
		if !(own >= 0 && own <= float64(c.Users)) {
			return fmt.Errorf("komd: item %d cannot be liked by %v of %d users", i, own, c.Users)
		}
		for j, both := range c.C.Row(i)[:i] {
			if !(both >= 0 && both <= min(own, c.C.Row(j)[j])) {
				return fmt.Errorf("komd: items %d and %d are liked by %v and %v users, so it cannot be that %v users like both", i, j, own, c.C.Row(j)[j], both)
			}
			if other := c.C.Row(j)[i]; both != other {
				return notSymmetric(i, j, both, other)
			}
		}
	}
	return nil
}

// checkProducts is like check for sums of products of ratings. By the Cauchy-Schwarz
// inequality, no sum of products exceeds the root of the product of both sums of squares.
func (c Counts) checkProducts() error {
	most := float64(c.Users) * float64(c.Most) * float64(c.Most)
	for i := range c.C.Rows {
		own := c.C.Row(i)[i]
		if !(own >= 0 && own <= most) {
			return fmt.Errorf("komd: %[1]d users can rate item %[2]d with at most %[3]d each, so their squared ratings cannot add up to %[4]v", c.Users, i, c.Most, own)
		}
		for j, both := range c.C.Row(i)[:i] {
			if other := c.C.Row(j)[j]; !(both >= 0 && both*both <= own*other) {
				return fmt.Errorf("komd: the squared ratings of items %d and %d add up to %v and %v, so their products cannot add up to %v", i, j, own, other, both)
			}
			if mirrored := c.C.Row(j)[i]; both != mirrored {
				return notSymmetric(i, j, both, mirrored)
			}
		}
	}
	return nil
}

func notSymmetric(i, j int, ij, ji float64) error {
	return fmt.Errorf("komd: the matrix of counts has %v in row %d, column %d, but %v in row %d, column %d; it must be symmetric", ij, i, j, ji, j, i)
}
