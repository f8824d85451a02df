package chebyshev

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// These are the limits of a polynomial. MaxSteps bounds the number of its coefficients, one more than its
// degree. LeastRatio and MostRatio bound the ratio beta of the ridge to the greatest possible eigenvalue.
const (
	MaxSteps   = 1 << 12
	LeastRatio = 1e-9
	MostRatio  = 1e3
)

// Polynomial is the polynomial P of the package's comment for one ratio and one number of steps.
type Polynomial struct {
	Ratio float64 // beta: the ridge alpha divided by N
	Steps int     // K: P has degree K-1, and Coefficients are those of T_0 to T_(K-1)
	// Remainder is 1/cosh(K acosh(1 + 2 beta)): the residual's largest possible norm, in units of the
	// norm of B.
	Remainder float64
	// Coefficients[k] is the coefficient of T_k(2x - 1). It is the nearest float64, has the sign of
	// (-1)^k and a magnitude of at most 4/sinh(acosh(1 + 2 beta)), and the magnitudes fall from k = 1.
	Coefficients []float64
}

// New returns the polynomial of the given ratio beta and number of steps K, from 1 to [MaxSteps].
//
// With t = 2x-1, s = -1 - 2 beta and the second kind U, the division of T_K(t) - T_K(s) by t - s
// leaves 2 sum' U_(K-1-k)(s) T_k(t), where sum' halves the term of k = 0 (Mason and Handscomb,
// Chebyshev Polynomials, 2003, section 1.2 has the recurrences from which it follows). So with
// cosh(theta) = 1 + 2 beta and q = exp(-theta)
//
//	c_k = 4 (-1)^k sinh((K-k) theta) / (sinh(theta) cosh(K theta))
//	    = 4 (-1)^k (q^k - q^(2K-k)) / (sinh(theta) (1 + q^(2K)))
//
// and half of that for k = 0.
func New(ratio float64, steps int) (Polynomial, error) {
	if err := checkRatio(ratio); err != nil {
		return Polynomial{}, err
	}
	if steps < 1 || steps > MaxSteps {
		return Polynomial{}, fmt.Errorf("chebyshev: there are %d steps; use 1 to %d", steps, MaxSteps)
	}
	sinh, q := hyperbola(ratio)
	powers := make([]*big.Float, steps+1)
	powers[0] = exact(1)
	for k := 1; k <= steps; k++ {
		powers[k] = number().Mul(powers[k-1], q)
	}
	last := powers[steps]
	divisor := number().Mul(last, last)
	divisor.Add(divisor, exact(1)) // 1 + q^(2K)
	p := Polynomial{Ratio: ratio, Steps: steps, Coefficients: make([]float64, steps)}
	p.Remainder, _ = number().Quo(number().Mul(exact(2), last), divisor).Float64()
	unit := number().Quo(exact(4), number().Mul(sinh, divisor))
	for k := range p.Coefficients {
		c := number().Sub(powers[k], number().Mul(last, powers[steps-k]))
		p.Coefficients[k], _ = c.Mul(c, unit).Float64()
		if k%2 == 1 {
			p.Coefficients[k] = -p.Coefficients[k]
		}
	}
	p.Coefficients[0] /= 2
	return p, nil
}

func checkRatio(ratio float64) error {
	if !(ratio >= LeastRatio && ratio <= MostRatio) {
		return fmt.Errorf("chebyshev: the ratio is %v; it must be from %v to %v", ratio, LeastRatio, MostRatio)
	}
	return nil
}

// precision is the number of bits of intermediate values. After [MaxSteps] products, and the
// subtraction of powers that agree in at most 16 bits, far more than the 53 bits of the results are
// right.
const precision = 192

func number() *big.Float { return new(big.Float).SetPrec(precision) }

func exact(v float64) *big.Float { return number().SetFloat64(v) }

// hyperbola returns sinh(theta) and exp(-theta) for cosh(theta) = 1 + 2 ratio.
func hyperbola(ratio float64) (sinh, q *big.Float) {
	beta := exact(ratio)
	near := number().Sqrt(beta)
	far := number().Sqrt(number().Add(beta, exact(1)))
	sinh = number().Mul(exact(2), number().Mul(near, far))
	root := number().Add(near, far) // exp(theta/2)
	return sinh, number().Quo(exact(1), root.Mul(root, root))
}

// Blocks returns the coefficients d of P in blocks of m:
//
//	P(x) = sum over j of T_j(g) sum over i < m of d[j][i] T_i(t)    t = 2x - 1, g = T_m(t)
//
// It follows from T_jm T_i = (T_(jm+i) + T_(jm-i))/2 from the highest block down. The block m divides
// the number of steps, or Blocks panics. With blocks of 1, the coefficients are those of P.
//
// Each magnitude is at most twice that of the coefficient of the same degree: d[j][i] is an alternating sum
// of coefficients of P that have one sign and magnitudes that fall.
func (p Polynomial) Blocks(m int) [][]float64 {
	if m < 1 || p.Steps%m != 0 {
		panic(fmt.Sprintf("chebyshev: blocks of %d for %d steps", m, p.Steps))
	}
	rest := slices.Clone(p.Coefficients)
	blocks := make([][]float64, p.Steps/m)
	for j := len(blocks) - 1; j > 0; j-- {
		d := make([]float64, m)
		for i := 1; i < m; i++ {
			d[i] = 2 * rest[j*m+i]
			rest[j*m-i] -= rest[j*m+i]
		}
		d[0] = rest[j*m]
		blocks[j] = d
	}
	blocks[0] = rest[:m]
	return blocks
}

// RangeBits returns the number of bits before the binary point, with the sign, that hold every number of
// Clenshaw's recurrence in blocks of m: the values of the blocks, the vectors of the recurrence, twice their
// products with T_m(H), and the sums of a block and such a product. The vectors that P(H) multiplies
// are B/N of a regression: B = F^T Y with |F|^2 <= N and |Y|^2 <= N, so that their part in an eigenvalue x N
// of A is at most sqrt(x), and a further vector of norm spread (noise, or 0). It panics unless m divides the number of
// steps.
//
// It evaluates the recurrence on eigenvalues from 2^-40 to 1, four for each power of two, and adds one
// bit for those between. Every machine computes the same number.
func (p Polynomial) RangeBits(m int, spread float64) int {
	blocks, most := p.Blocks(m), 0.0
	for g := range 161 {
		x := math.Ldexp(quarters[g%4], -g/4)
		most = max(most, float64((math.Sqrt(x)+spread)*magnitude(blocks, x)))
	}
	_, exponent := math.Frexp(most)
	return exponent + 2
}

// quarters holds 2^(-g/4) at index g.
var quarters = [4]float64{1, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605}

// magnitude returns the largest magnitude in Clenshaw's recurrence at x. Conversions forbid fused
// multiply-adds.
func magnitude(blocks [][]float64, x float64) (most float64) {
	m := len(blocks[0])
	first := make([]float64, m+1) // T_i(2x-1)
	first[0], first[1] = 1, 2*x-1
	for i := 2; i <= m; i++ {
		first[i] = float64(2*first[1]*first[i-1]) - first[i-2]
	}
	var b, before float64
	for _, block := range slices.Backward(blocks) {
		y := 0.0
		for i, d := range block {
			y += float64(d * first[i])
		}
		product := float64(2 * first[m] * b)
		sum := y + product
		b, before = sum-before, b
		most = max(most, math.Abs(y), math.Abs(product), math.Abs(sum), math.Abs(b))
	}
	return most
}

// At returns P(x), for x from 0 to 1, by Clenshaw's recurrence in float64. It is for comparisons;
// near x = 0 its relative error grows with 1/sqrt(beta).
func (p Polynomial) At(x float64) float64 {
	t := 2*x - 1
	var b, before float64
	for k := p.Steps - 1; k > 0; k-- {
		b, before = p.Coefficients[k]+2*t*b-before, b
	}
	return p.Coefficients[0] + t*b - before
}

// Steps returns the number of steps for a training set of n rows, or for a B that noise makes as long as that of
// n rows can be:
//
//	ln(max(100 n, 900 / sqrt(ratio))) / acosh(1 + 2 ratio)
//
// rounded up to a multiple of block. For small ratios the divisor is 2 sqrt(ratio). Targets of magnitude 1
// and rows of norm sqrt(N/n) have a B of norm at most sqrt(N n). By the first term the residual's norm is
// then below sqrt(N/n)/50, a fiftieth of one row. By the second it is below sqrt(alpha n)/450; as
// (A + alpha)^-1 applied to it changes predictions on the rows by at most 1/sqrt(4 alpha) times its norm,
// their root mean square change is then below 1/900. It panics unless rows and block are positive and the
// ratio is within the limits; the result can exceed [MaxSteps].
func Steps(rows int, ratio float64, block int) int {
	if rows < 1 || block < 1 || !(ratio >= LeastRatio && ratio <= MostRatio) {
		panic(fmt.Sprintf("chebyshev: steps for %d rows, ratio %v and blocks of %d", rows, ratio, block))
	}
	theta := 2 * exactmath.Log(math.Sqrt(ratio)+math.Sqrt(1+ratio))
	fall := max(100*float64(rows), 900/math.Sqrt(ratio))
	steps := int(math.Ceil(exactmath.Log(fall) / theta))
	return (steps + block - 1) / block * block
}
