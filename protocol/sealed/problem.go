package sealed

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
)

// These are the limits of a [Problem]. Beyond MaxRows, truncations would fail too often.
const (
	MinRows     = 32
	MaxRows     = 1 << 20
	MaxFeatures = 4096
	MaxTargets  = 256
)

// leastRatio is the least ratio of alpha to N. With a smaller one, what passes the check moves outputs too far.
const leastRatio = 1. / 40_000

// Problem holds the public numbers of one ridge regression. All members of a session know them and
// compute everything below from them.
//
// With phi(x) the features of a row, |phi| <= 1, and y its targets, |y| <= 1, the features of each row are
// scaled by sqrt(N/n), where N is the least power of two that is at least n; for a private problem see
// [Problem.Bound] and [Problem.RowScale]. Features and targets are rounded
// towards zero to multiples of 2^-[Problem.CellBits], so that the squared norm of a row's features is at most
// N/n ([Accumulator]). So the eigenvalues of A = sum of phi phi^T are from 0 to N. Without the scaling, N
// would be up to twice as large as needed. The weights are those of the scaled rows: predictions multiply
// them by [Problem.RowScale] phi(x).
type Problem struct {
	Rows     int // n: the training rows of all parties together
	Features int // M: the length of phi
	Targets  int // c: the length of y
	// Ridge is alpha in units of 2^-(2 CellBits) of the scaled rows, a whole number: alpha of the rows as
	// they are, times 2^(2 CellBits) and the square of [Problem.RowScale], rounded up.
	Ridge int64
	// Plan has the steps of [chebyshev.Steps]. Only its block is a choice.
	Plan chebyshev.Plan

	noise *privateNoise // of a private problem, or nil
}

// NewProblem returns the problem with the least ridge that is at least alpha/n = ratio, and the plan that
// takes the least time by [Problem.Price]. It returns an error if a number is out of range.
func NewProblem(rows, features, targets int, ratio float64) (Problem, error) {
	p := Problem{Rows: rows, Features: features, Targets: targets}
	if err := p.checkSizes(); err != nil {
		return Problem{}, err
	}
	if err := checkRatio(ratio); err != nil {
		return Problem{}, err
	}
	p.Ridge = int64(math.Ceil(math.Ldexp(ratio, p.unitBits())))
	return p.planned()
}

// planned returns the problem with the plan that takes the least time.
func (p Problem) planned() (Problem, error) {
	plan, err := chebyshev.Choose(p.steepness(), p.Ratio(), p.Price(), p.cutsHold)
	if err != nil {
		return Problem{}, fmt.Errorf("sealed: %d rows with %d features and %d targets, alpha %v of the rows: %w", p.Rows, p.Features, p.Targets, p.Ratio(), err)
	}
	p.Plan = plan
	return p, p.Check()
}

// Check returns an error if a number is out of range, if the plan's number of steps is not that of
// [chebyshev.Steps], if the check would accept sums of more than a sixth of a row, if it could miss a wrap
// of the words, or if a truncation could go wrong with a probability above 2^-14 in one run.
func (p Problem) Check() error {
	if err := p.checkSizes(); err != nil {
		return err
	}
	if err := checkRatio(p.Ratio()); err != nil {
		return err
	}
	if err := p.Plan.Check(); err != nil {
		return fmt.Errorf("sealed: %w", err)
	}
	if p.noise != nil {
		if err := p.noise.check(p); err != nil {
			return err
		}
	}
	if steps := chebyshev.Steps(p.steepness(), p.Ratio(), p.Plan.Block); p.Plan.Steps != steps {
		return fmt.Errorf("sealed: the plan has %d steps in blocks of %d; for %d rows it must have %d", p.Plan.Steps, p.Plan.Block, p.Rows, steps)
	}
	polynomial, err := chebyshev.New(p.Ratio(), p.Plan.Steps)
	if err != nil {
		return fmt.Errorf("sealed: %w", err)
	}
	if err := p.checkBounds(p.bounds(polynomial)); err != nil {
		return err
	}
	if !p.cutsHold(polynomial, p.Plan.Block) {
		return fmt.Errorf("sealed: a truncation would go wrong with a probability of up to %.2g; use fewer rows, fewer features or a larger alpha", p.truncationFailure(polynomial, p.Plan.Block))
	}
	return nil
}

// checkRatio refuses a ratio of alpha to N, which is that of alpha to the number of rows before they are scaled.
func checkRatio(ratio float64) error {
	if !(ratio >= leastRatio && ratio <= 1) {
		return fmt.Errorf("sealed: alpha is %v of the number of rows; use an alpha from %v of it to all of it", ratio, leastRatio)
	}
	return nil
}

func (p Problem) checkSizes() error {
	switch {
	case p.Rows < MinRows || p.Rows > MaxRows:
		return fmt.Errorf("sealed: there are %d rows; use %d to %d", p.Rows, MinRows, MaxRows)
	case p.Features < 1 || p.Features > MaxFeatures:
		return fmt.Errorf("sealed: there are %d features; use 1 to %d", p.Features, MaxFeatures)
	case p.Targets < 1 || p.Targets > MaxTargets:
		return fmt.Errorf("sealed: there are %d targets; use 1 to %d", p.Targets, MaxTargets)
	}
	return nil
}

// log returns the logarithm of N to base 2.
func (p Problem) log() int {
	if p.noise != nil {
		return p.noise.log
	}
	return bits.Len(uint(p.Rows - 1))
}

// Bound returns N, the least power of two that is at least the number of rows. It bounds A's eigenvalues. For a private
// problem N is the least power of two that is at least the number of rows plus twice the bound of A's noise, in rows.
func (p Problem) Bound() int { return 1 << p.log() }

// RowScale returns sqrt(N/n), the factor of each row's features before they are rounded. For a private problem it is
// sqrt((N - 2 norm)/n), or little less, where norm bounds the magnitude of the eigenvalues of A's noise.
func (p Problem) RowScale() float64 {
	if p.noise != nil {
		return math.Sqrt(math.Ldexp(float64(p.noise.square()), -2*p.CellBits()))
	}
	return math.Sqrt(float64(p.Bound()) / float64(p.Rows))
}

// longestRow returns the greatest squared length of a scaled row's features, in units of 2^(-2 CellBits).
func (p Problem) longestRow() float64 {
	if p.noise != nil {
		return float64(p.noise.square())
	}
	return math.Floor(math.Ldexp(1, p.unitBits()) / float64(p.Rows))
}

// CellBits returns b, the fraction bits of a feature and of a target in the sums: 15 up to N = 2^18, and 14
// beyond. So no entry of A or B exceeds 2^48, and squares stay far below the words' range.
func (p Problem) CellBits() int { return cellBits(p.log()) }

func cellBits(log int) int {
	if log > 18 {
		return 14
	}
	return 15
}

// WeightBits returns s, the fraction bits of the weights that the computation opens: max(26, 15 + log2 N).
// The cut of W to s bits adds to the residual a norm of at most (N + alpha)/2^s times the root of the number of words.
func (p Problem) WeightBits() uint { return uint(max(26, 15+p.log())) }

// VectorBits returns the fraction bits of the vectors and squared matrices inside the computation. It is
// below 2 CellBits + log2 N, the fraction bits of B/N.
func (p Problem) VectorBits() uint { return p.WeightBits() + 8 }

// unitBits is the logarithm of N 2^(2 CellBits), the greatest possible eigenvalue of A in whole numbers.
func (p Problem) unitBits() int { return 2*p.CellBits() + p.log() }

// Ratio returns alpha/N of the scaled rows, which is alpha/n of the rows as they are. Of a private problem it is the
// part of alpha that is left where A's noise is lowest: (alpha - norm)/N.
func (p Problem) Ratio() float64 { return math.Ldexp(float64(p.Ridge-p.norm()), -p.unitBits()) }

// Alpha returns alpha of the rows as they are.
func (p Problem) Alpha() float64 {
	if p.noise != nil {
		return float64(p.Ridge) / float64(p.noise.square())
	}
	return p.Ratio() * float64(p.Rows)
}

// longest bounds the norm of B, in scaled rows.
func (p Problem) longest() float64 {
	if p.noise != nil {
		return float64(float64(p.Rows)*p.RowScale()) + p.noise.length
	}
	return math.Sqrt(float64(p.Bound()) * float64(p.Rows))
}

// steepness returns the number of rows for [chebyshev.Steps]: the number whose B can be as long as [Problem.longest].
func (p Problem) steepness() int {
	if p.noise != nil {
		return int(math.Ceil(p.longest() / p.RowScale()))
	}
	return p.Rows
}

// spread bounds the norm of B's noise divided by N.
func (p Problem) spread() float64 {
	if p.noise != nil {
		return math.Ldexp(p.noise.length, -p.log())
	}
	return 0
}

// matrixBits returns the fraction bits of H = 2 (A + norm)/N - 1. H is A in whole numbers minus [Problem.middle] on the
// diagonal, so no truncation and no message make it.
func (p Problem) matrixBits() uint { return uint(p.unitBits() - 1) }

// powerBits returns the fraction bits of the matrix T_m(H) of Clenshaw's recurrence with blocks of m.
func (p Problem) powerBits(block int) uint {
	if block == 1 {
		return p.matrixBits()
	}
	return p.VectorBits()
}

// squareBits returns by how many bits the square of T_q(H) is truncated, if T_q(H) has the given fraction
// bits: T_2q = 2 T_q^2 - 1 then has [Problem.VectorBits].
func (p Problem) squareBits(fraction uint) uint { return 2*fraction - p.VectorBits() - 1 }

// These numbers are of one server, in nanoseconds: a multiply-add takes a little more than 1, and an
// exchange of messages between the servers some 10 milliseconds with journals on one machine. They choose
// a plan and promise nothing.
const (
	multiplyAddNanoseconds = 1
	messageNanoseconds     = 10_000_000
)

// Price returns what the parts of the computation cost a server, in nanoseconds: two products of M^2 c
// multiply-adds each for a product, and M^3 multiply-adds for a squaring. The dealer works half as much at
// the same time.
func (p Problem) Price() chebyshev.Price {
	m, c := int64(p.Features), int64(p.Targets)
	return chebyshev.Price{
		Squaring: multiplyAddNanoseconds * m * m * m,
		Product:  multiplyAddNanoseconds * 2 * m * m * c,
		Message:  messageNanoseconds,
	}
}

// mostFailure bounds the probability of a wrong truncation in one run.
const mostFailure = 1. / (1 << 14)

// cutsHold reports whether truncations go wrong seldom enough with blocks of m.
func (p Problem) cutsHold(polynomial chebyshev.Polynomial, block int) bool {
	return p.truncationFailure(polynomial, block) <= mostFailure
}

// truncationFailure bounds the probability that any truncation of shares in one run is wrong, which
// spoils the result and makes the check fail. A word z is wrong with probability |z|/2^128, and the words of
// a symmetric matrix or of vectors with the Frobenius norm f add up to at most sqrt(M^2 + 3 M)/2 f, over the
// triangle, or sqrt(M L) f, for M features and L targets. The norm of a square is at most sqrt(M). The norm of B/N and
// its first products is at most 1, or more by B's noise. The polynomial knows the norms of the recurrence. The cut of B
// itself fails with a probability of less than 2^-69, which is left out. Conversions forbid fused multiply-adds, so
// that all members decide alike.
func (p Problem) truncationFailure(polynomial chebyshev.Polynomial, block int) float64 {
	plan := chebyshev.Plan{Steps: polynomial.Steps, Block: block}
	m, matrix, vector := float64(p.Features), int(p.matrixBits()), int(p.VectorBits())
	sum := 0.0
	for i := range plan.Squarings() {
		fraction := vector
		if i == 0 {
			fraction = matrix
		}
		sum += float64(m * math.Sqrt(m+3) / 2 * math.Ldexp(1, 2*fraction-128))
	}
	words := math.Sqrt(m * float64(p.Targets))
	sum += float64(float64(block-1) * words * math.Ldexp(1+p.spread(), matrix+vector-128))
	recurrence := math.Ldexp(1, vector+int(p.powerBits(block))+polynomial.RangeBits(block, p.spread())-1-128)
	return sum + float64(float64(plan.Steps/block)*words*recurrence)
}
