package sealed

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// privateNoise describes the noise that the keepers of a private problem add to A and B. All members compute it from
// public numbers. With it the problem is one of A + norm, whose eigenvalues are from 0 to N, and of the ridge less
// norm.
type privateNoise struct {
	guarantee privacy.Guarantee
	rows      int
	log       int           // the logarithm of N to base 2
	ridge     privacy.Ridge // noise of one keeper; the noise of two gives the guarantee
	norm      int64         // bounds the magnitude of eigenvalues of A's noise, in units of 2^(-2 CellBits)
	length    float64       // bounds the norm of B's noise, in scaled rows
}

// keepersNoise says that three keepers add noise, and that the noise of two gives the guarantee: one keeper may add
// none, and each knows its own.
var keepersNoise = privacy.Summands{Honest: 2, All: 3}

// NewPrivateProblem returns the problem whose opened words have the guarantee, against one keeper together with any
// data parties. Its ridge follows from the noise, [privacy.Ridge.Alpha], and is at least 1/40,000 of N above the
// bound of the noise's eigenvalues. It returns an error if a number is out of range, or if the noise exceeds what the
// protocol computes with.
func NewPrivateProblem(rows, features, targets int, g privacy.Guarantee) (Problem, error) {
	p := Problem{Rows: rows, Features: features, Targets: targets}
	if err := p.blur(g); err != nil {
		return Problem{}, err
	}
	p.Ridge = p.noise.alpha()
	return p.planned()
}

// blur makes a problem private. It returns an error if the problem's sizes are out of range.
func (p *Problem) blur(g privacy.Guarantee) (err error) {
	if err := p.checkSizes(); err != nil {
		return err
	}
	p.noise, err = newPrivateNoise(*p, g)
	return err
}

// newPrivateNoise returns the noise with the least N.
func newPrivateNoise(p Problem, g privacy.Guarantee) (*privateNoise, error) {
	n, fits, err := leastNoise(p, g)
	switch {
	case err != nil:
		return nil, fmt.Errorf("sealed: %w", err)
	case !fits:
		return nil, n.noRoom()
	}
	return n, nil
}

// leastNoise returns the noise for the least N in which it fits, and whether there is one. If not, the noise is that
// for the largest N.
func leastNoise(p Problem, g privacy.Guarantee) (n *privateNoise, fits bool, err error) {
	for log := bits.Len(uint(p.Rows - 1)); !fits && err == nil && 1<<log <= MaxRows; log++ {
		n = &privateNoise{guarantee: g, rows: p.Rows, log: log}
		fits, err = n.calibrate(p)
	}
	return n, fits, err
}

// noRoom refuses rows beside which the noise has no room. Its advice is fewer rows: the weakest noise has no room
// beside MaxRows, and the strongest, in the limits of [privacy.Guarantee] and [privacy.Shape], has room beside most of
// them.
func (n *privateNoise) noRoom() error {
	taken := int(math.Ceil(math.Ldexp(2*float64(n.norm), -2*cellBits(n.log))))
	return fmt.Errorf("sealed: the noise for epsilon %g and delta %g takes the room of %d rows, and beside %d training rows there is room for %d; let at most %d rows train (a larger epsilon or fewer features leave room for more)",
		n.guarantee.Epsilon, n.guarantee.Delta, taken, n.rows, MaxRows-n.rows, MaxRows-taken)
}

// calibrate sets the noise so that the eigenvalues of n rows and of the noise fill the interval from 0 to N, and
// reports whether rows need not shrink for that. The noise grows in proportion to the squared length of a row.
func (n *privateNoise) calibrate(p Problem) (fits bool, err error) {
	unit, row := int64(1)<<n.unitBits(), int64(1)<<(2*cellBits(n.log))
	if err := n.draw(p, row); err != nil {
		return false, err
	}
	span := float64(n.rows) + float64(2*float64(n.norm)/float64(row))
	square := int64(math.Floor(float64(unit) / span))
	for ; square >= row; square-- {
		if err := n.draw(p, square); err != nil || n.fits() {
			return err == nil, err
		}
	}
	return false, nil
}

// draw sets the noise for rows of features of the given squared length.
func (n *privateNoise) draw(p Problem, square int64) (err error) {
	n.ridge, err = privacy.NewRidge(n.guarantee, privacy.Shape{
		Features: p.Features, Targets: p.Targets, Summands: keepersNoise,
		SquaredFeatures: square, SquaredTargets: privacy.TowardsZero(1, cellBits(n.log)),
	})
	if err != nil {
		return err
	}
	n.norm = n.ridge.Norm()
	words := math.Sqrt(float64(p.Features) * float64(p.Targets))
	n.length = math.Ldexp(n.ridge.Cross.Deviation()*(words+lengthBeyond), -2*cellBits(n.log))
	return nil
}

// lengthBeyond is added to the root of B's number of words in the bound of the norm of B's noise, in standard
// deviations of a word. The norm exceeds the bound with a probability of at most exp(-18), because the norm of a
// Gaussian vector is a function of slope 1.
const lengthBeyond = 6

func (n *privateNoise) fits() bool {
	return int64(n.rows)*n.square()+2*n.norm <= 1<<n.unitBits()
}

// square returns the greatest squared length of a scaled row's features, in units of 2^(-2 CellBits).
func (n *privateNoise) square() int64 { return n.ridge.Shape.SquaredFeatures }

func (n *privateNoise) unitBits() int { return 2*cellBits(n.log) + n.log }

// alpha returns the ridge of a private problem.
func (n *privateNoise) alpha() int64 {
	least := int64(math.Ceil(math.Ldexp(leastRatio, n.unitBits())))
	return max(n.ridge.Alpha(), n.norm+least)
}

// check returns an error unless the noise was computed for the problem.
func (n *privateNoise) check(p Problem) error {
	shape := n.ridge.Shape
	if n.rows != p.Rows || shape.Features != p.Features || shape.Targets != p.Targets {
		return fmt.Errorf("sealed: the noise is for %d rows, %d features and %d targets, the problem has %d, %d and %d", n.rows, shape.Features, shape.Targets, p.Rows, p.Features, p.Targets)
	}
	if p.Ridge != n.alpha() {
		return fmt.Errorf("sealed: the ridge is %d, but the noise requires %d", p.Ridge, n.alpha())
	}
	return nil
}

// appendTo appends all numbers of the noise, so that members that compute different numbers have different digests.
func (n *privateNoise) appendTo(w *wire.Writer) {
	w.String("noise")
	w.Uint64(math.Float64bits(n.guarantee.Epsilon))
	w.Uint64(math.Float64bits(n.guarantee.Delta))
	for _, v := range []int64{int64(n.log), n.square(), n.norm} {
		w.Uint64(uint64(v))
	}
	w.Uint64(math.Float64bits(n.length))
	for _, of := range []privacy.Noise{n.ridge.Products, n.ridge.Squares, n.ridge.Cross} {
		w.String(of.Variance.String())
	}
}

// Guarantee returns the guarantee of a private problem, and whether the problem is private.
func (p Problem) Guarantee() (privacy.Guarantee, bool) {
	if p.noise == nil {
		return privacy.Guarantee{}, false
	}
	return p.noise.guarantee, true
}

// norm returns what is added to A's diagonal so that no eigenvalue is below 0, in units of 2^(-2 CellBits).
func (p Problem) norm() int64 {
	if p.noise == nil {
		return 0
	}
	return p.noise.norm
}

// middle returns 2^matrixBits less norm: A in whole numbers minus it on the diagonal is H.
func (p Problem) middle() ring128.Word {
	return ring128.FromInt64(1).Lsh(p.matrixBits()).Sub(ring128.FromInt64(p.norm()))
}

// addNoise adds a keeper's noise to its words of A and B. The stream serves nothing else.
func (s setting) addNoise(words []ring128.Word, seed [32]byte) error {
	outer, cross := make([]int64, s.triangle()), make([]int64, s.vectors())
	if err := s.problem.noise.ridge.Draw(outer, cross, prg.New(seed, "mercer/v1/sealed/privacy", s.session[:])); err != nil {
		return err
	}
	ring128.Add(words[:s.triangle()], ring128.FromInts(outer))
	ring128.Add(words[s.triangle():], ring128.FromInts(cross))
	return nil
}

// addsNoise reports whether a member adds noise to its upload.
func (s setting) addsNoise(member string) bool {
	return s.problem.noise != nil && slices.Contains(s.keepers[:], member)
}

// Deviations returns the standard deviations of all keepers' noise for rows as they are: in an entry of A above the
// diagonal, and in one of B. They are 0 without noise.
func (p Problem) Deviations() (products, cross float64) {
	if p.noise == nil {
		return 0, 0
	}
	r, square := p.noise.ridge, float64(p.noise.square())
	return r.Products.Deviation() / square, r.Cross.Deviation() / math.Sqrt(math.Ldexp(square, 2*p.CellBits()))
}
