package moments

import (
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Features returns the random features of an rbf or laplacian kernel for rows of the given number
// of columns. They are the cosines and sines of features/2 directions, which are drawn from a
// public seed.
func Features(k kernel.Spec, seed [32]byte, features, width int) (feature.Map, error) {
	if features < 2 || features%2 != 0 || width < 1 {
		return feature.Map{}, fmt.Errorf("moments: there are %d features of %d columns; the number of features must be even and positive, and the number of columns positive", features, width)
	}
	if k.Amplitude != 0 && k.Amplitude != 1 {
		return feature.Map{}, fmt.Errorf("moments: a kernel with amplitude %g has no random features; leave the amplitude out", k.Amplitude)
	}
	w := linalg.New[float64](features/2, width)
	source := func(direction int) feature.Normals {
		return prg.New(seed, "moments/direction", binary.LittleEndian.AppendUint64(nil, uint64(direction)))
	}
	switch k.Name {
	case "rbf":
		feature.Gaussian(w, 0, k.Gamma, source)
	case "laplacian":
		feature.Laplace(w, 0, k.Gamma, source)
	default:
		return feature.Map{}, fmt.Errorf("moments: kernel %s has no random features here; use rbf or laplacian", k.Name)
	}
	return feature.Map{Directions: w}, nil
}
