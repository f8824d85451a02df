package sealed

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
)

// These are the fraction bits of fixed-point numbers: of the vectors and squared matrices inside the
// computation, and of the weights that it opens.
const (
	VectorBits = 34
	WeightBits = 26
)

// These are the limits of a [Problem].
const (
	MinRows     = 32
	MaxRows     = 1 << 24
	MaxFeatures = 4096
	MaxTargets  = 256
)

// Problem holds the public numbers of one ridge regression. All members of a session know them and
// compute everything below from them.
//
// With phi(x) the features of a row, |phi| <= 1, and y its targets, |y| <= 1, each row is scaled by
// sqrt(N/n), where N is the least power of two that is at least n, and its features are rounded to
// multiples of 2^-[Problem.CellBits], so that the squared norm of a rounded row is at most N/n. So the
// eigenvalues of A = sum of phi phi^T are from 0 to N. Without the scaling, N would be up to twice as
// large as needed. The weights are those of the scaled rows: predictions multiply them by sqrt(N/n)
// phi(x).
type Problem struct {
	Rows     int // n: the training rows of all parties together
	Features int // M: the length of phi
	Targets  int // c: the length of y
	// Ridge is alpha in units of 2^-(2 CellBits) of the scaled rows, a whole number: alpha/n of the
	// rows as they are, times N 2^(2 CellBits).
	Ridge int64
	Plan  chebyshev.Plan
}

// NewProblem returns the problem with the ridge nearest to alpha/n = ratio and the plan that takes the
// least time by [Problem.Price]. It returns an error if a number is out of range.
func NewProblem(rows, features, targets int, ratio float64) (Problem, error) {
	p := Problem{Rows: rows, Features: features, Targets: targets}
	if err := p.checkSizes(); err != nil {
		return Problem{}, err
	}
	if !(ratio >= chebyshev.LeastRatio && ratio <= 1) {
		return Problem{}, fmt.Errorf("sealed: alpha is %v of the number of rows; it must be from %v to 1", ratio, chebyshev.LeastRatio)
	}
	p.Ridge = int64(math.RoundToEven(math.Ldexp(ratio, p.unitBits())))
	plan, err := chebyshev.Choose(rows, p.Ratio(), p.Price(), mostRangeBits)
	if err != nil {
		return Problem{}, fmt.Errorf("sealed: alpha is %v of the number of rows: %w", ratio, err)
	}
	p.Plan = plan
	return p, p.Check()
}

// Check returns an error if a number is out of range, if the plan has too few steps for the number of
// rows, or if a truncation could go wrong with a probability above 2^-14 in one run.
func (p Problem) Check() error {
	if err := p.checkSizes(); err != nil {
		return err
	}
	if p.Ridge < 1 || p.Ratio() < chebyshev.LeastRatio || p.Ratio() > 1 {
		return fmt.Errorf("sealed: the ridge is %d, which is %v of the number of rows; it must be from %v to 1", p.Ridge, p.Ratio(), chebyshev.LeastRatio)
	}
	if err := p.Plan.Check(); err != nil {
		return fmt.Errorf("sealed: %w", err)
	}
	if least := chebyshev.Steps(p.Rows, p.Ratio(), p.Plan.Block); p.Plan.Steps < least {
		return fmt.Errorf("sealed: %d steps leave too large a residual; %d rows need %d", p.Plan.Steps, p.Rows, least)
	}
	polynomial, err := chebyshev.New(p.Ratio(), p.Plan.Steps)
	if err != nil {
		return fmt.Errorf("sealed: %w", err)
	}
	if f := p.truncationFailure(polynomial); f > mostFailure {
		return fmt.Errorf("sealed: a truncation would go wrong with a probability of up to %.2g; use fewer rows, fewer features or a larger ridge", f)
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
func (p Problem) log() int { return bits.Len(uint(p.Rows - 1)) }

// Bound returns N, the least power of two that is at least the number of rows. It bounds A's eigenvalues.
func (p Problem) Bound() int { return 1 << p.log() }

// RowScale returns sqrt(N/n), the factor of each row's features before they are rounded.
func (p Problem) RowScale() float64 { return math.Sqrt(float64(p.Bound()) / float64(p.Rows)) }

// CellBits returns the fraction bits of a feature in the sums: 15 up to 2^15 rows, and then one less for
// every four times as many rows. So no entry of A exceeds 2^45, and squares stay far below the words'
// range; errors of roundings fall with the number of rows.
func (p Problem) CellBits() int { return 15 - (max(p.log()-15, 0)+1)/2 }

// unitBits is the logarithm of N 2^(2 CellBits), the greatest possible eigenvalue of A in whole numbers.
func (p Problem) unitBits() int { return 2*p.CellBits() + p.log() }

// Ratio returns alpha/N of the scaled rows, which is alpha/n of the rows as they are.
func (p Problem) Ratio() float64 { return math.Ldexp(float64(p.Ridge), -p.unitBits()) }

// matrixBits returns the fraction bits of H = 2A/N - 1. H is A in whole numbers minus 2^matrixBits on the
// diagonal, so no truncation and no message make it.
func (p Problem) matrixBits() uint { return uint(p.unitBits() - 1) }

// powerBits returns the fraction bits of the matrix T_m(H) of Clenshaw's recurrence.
func (p Problem) powerBits() uint {
	if p.Plan.Block == 1 {
		return p.matrixBits()
	}
	return VectorBits
}

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

// mostRangeBits bounds the bits before the binary point that vectors need, and mostFailure the
// probability of a wrong truncation.
const (
	mostRangeBits = 20
	mostFailure   = 1. / (1 << 14)
)

// truncationFailure bounds the probability that any truncation of shares in one run is wrong, which
// spoils the result and makes the check fail. A word z is wrong with probability |z|/2^128. The argument
// is the problem's polynomial. Conversions forbid fused multiply-adds: all members decide alike.
func (p Problem) truncationFailure(polynomial chebyshev.Polynomial) float64 {
	f, sum := int(p.matrixBits()), 0.0
	for range p.Plan.Squarings() {
		sum += float64(float64(p.Features*(p.Features+1)/2) * math.Ldexp(1, 2*f-128))
		f = VectorBits
	}
	words := float64(p.Features * p.Targets)
	first := math.Ldexp(1, VectorBits+int(p.matrixBits())+1-128)
	recurrence := math.Ldexp(1, VectorBits+int(p.powerBits())+polynomial.RangeBits(p.Plan.Block)-1-128)
	sum += float64(float64(p.Plan.Block-1) * words * first)
	return sum + float64(float64(p.Plan.Steps/p.Plan.Block)*words*recurrence)
}
