package svm

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Defaults of [Params].
const (
	DefaultTol        = 1e-3
	DefaultCacheBytes = 200 << 20 // as in scikit-learn
)

// MaxClasses is the largest number of classes: 4,096 classes already mean 8.4
// million machines.
const MaxClasses = 4096

// ErrNotConverged is wrapped by the error of a training that used up its
// iterations, or could not move any more, before it met Tol.
var ErrNotConverged = errors.New("not converged")

// Params are the parameters of C-SVC.
type Params struct {
	// C > 0 is the price of a margin error.
	C float64
	// Tol is LIBSVM's stopping rule m(alpha) - M(alpha) <= Tol, in (0, 2): at
	// 2 the untrained machine would already pass. 0 means DefaultTol.
	Tol float64
	// Weights multiplies C for the rows of a class, by the class's name.
	// Classes that are not named have weight 1.
	Weights map[string]float64
	// CacheBytes bounds the kernel rows kept in memory, for all pairs that are
	// trained at the same time together; two rows per pair are always kept. It
	// changes the speed and never the result. 0 means DefaultCacheBytes.
	CacheBytes int64
	// MaxIter bounds the iterations for one pair. 0 means the larger of 10^7
	// and 100 times its rows, as in LIBSVM.
	MaxIter int
	// Interrupt, if not nil, is asked every few iterations whether to go on, by
	// several goroutines at once. Its error ends the training, which returns it
	// wrapped. The method Err of a context fits.
	Interrupt func() error
}

// DefaultParams returns C = 1 and Tol = DefaultTol.
func DefaultParams() Params {
	return Params{C: 1, Tol: DefaultTol, CacheBytes: DefaultCacheBytes}
}

// filled replaces zeros by defaults.
func (p Params) filled() Params {
	if p.Tol == 0 {
		p.Tol = DefaultTol
	}
	if p.CacheBytes == 0 {
		p.CacheBytes = DefaultCacheBytes
	}
	return p
}

// Validate checks p for the given classes. Its errors name the field.
func (p Params) Validate(classes []string) error {
	p = p.filled()
	switch {
	case !positive(p.C):
		return fmt.Errorf("svm: C is %v, it must be a finite number above 0", p.C)
	case !(p.Tol > 0 && p.Tol < 2):
		return fmt.Errorf("svm: tol is %v, it must be above 0 and below 2", p.Tol)
	case p.CacheBytes < 0:
		return fmt.Errorf("svm: a kernel cache of %d bytes, it must not be negative", p.CacheBytes)
	case p.MaxIter < 0:
		return fmt.Errorf("svm: max_iter is %d, it must not be negative", p.MaxIter)
	}
	for _, class := range slices.Sorted(maps.Keys(p.Weights)) {
		w := p.Weights[class]
		if !slices.Contains(classes, class) {
			return fmt.Errorf("svm: a weight for class %q, which the training rows do not have", class)
		}
		if !positive(w) || !positive(w*p.C) {
			return fmt.Errorf("svm: the weight of class %q is %v, weight and C times weight must be finite and above 0", class, w)
		}
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// bound returns C_i for the rows of class.
func (p Params) bound(class string) float64 {
	if w, ok := p.Weights[class]; ok {
		return p.C * w
	}
	return p.C
}

// stopping returns when to end a problem of n rows.
func (p Params) stopping(n int) stopping {
	s := stopping{tol: p.Tol, iterations: p.MaxIter, interrupt: p.Interrupt}
	if s.iterations == 0 {
		s.iterations = max(10_000_000, 100*n)
	}
	return s
}
