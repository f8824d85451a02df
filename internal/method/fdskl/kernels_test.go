package fdskl

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/linalg"
)

// Two parties' phases add up to features of the job's kernel: the mean cosine of the difference of
// two rows' phases is the kernel's value, within five deviations. For laplacian-product these are
// Cauchy directions, for rbf normal ones.
func TestPhasesAreOfTheJobsKernel(t *testing.T) {
	const directions, rows = 1 << 14, 6
	rng := rand.New(rand.NewPCG(5, 6))
	x := linalg.New[float64](rows, 4)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64() / 2
	}
	for name, tt := range map[string]struct {
		kernel job.Kernel
		want   func(euclid, manhattan float64) float64
	}{
		"rbf":                {job.Kernel{Name: job.RBF, Gamma: .7}, func(r, _ float64) float64 { return math.Exp(-.7 * r * r) }},
		"laplacian":          {job.Kernel{Name: job.Laplacian, Gamma: .7}, func(r, _ float64) float64 { return math.Exp(-.7 * r) }},
		"laplacian-product":  {job.Kernel{Name: job.LaplacianProduct, Gamma: .7}, func(_, sum float64) float64 { return math.Exp(-.7 * sum) }},
		"rational-quadratic": {job.Kernel{Name: job.RationalQuadratic, LengthScale: 1.2, Alpha: 2}, func(r, _ float64) float64 { return math.Pow(1+r*r/(4*1.44), -2) }},
		"matern": {job.Kernel{Name: job.Matern, LengthScale: 1.2, Nu: 1.5}, func(r, _ float64) float64 {
			return (1 + math.Sqrt(3)*r/1.2) * math.Exp(-math.Sqrt(3)*r/1.2)
		}},
	} {
		phases := make([][]float64, rows)
		for i := range phases {
			phases[i] = make([]float64, directions)
		}
		for party := range 2 {
			own := linalg.New[float64](rows, 2)
			for i := range rows {
				copy(own.Row(i), x.Row(i)[2*party:])
			}
			j := &job.Job{Kernel: tt.kernel}
			d := DirectionsOf(j, columns.Directions{Gamma: tt.kernel.Gamma, Key: [32]byte{byte(party + 1)}, Common: [32]byte{9}})
			source, err := d.Phases(own, 16)
			if err != nil {
				t.Fatal(err)
			}
			words := make([]byte, 2*rows*directions)
			source.Block(words, linalg.Range(0, rows), 0, directions)
			for i := range phases {
				for k := range directions {
					word := binary.LittleEndian.Uint16(words[2*(i*directions+k):])
					phases[i][k] += 2 * math.Pi * float64(word) / (1 << 16)
				}
			}
		}
		for i := range rows {
			for j := range i {
				mean, square, sum := 0.0, 0.0, 0.0
				for k := range directions {
					mean += math.Cos(phases[i][k]-phases[j][k]) / directions
				}
				for c, v := range x.Row(i) {
					d := v - x.Row(j)[c]
					square, sum = square+d*d, sum+math.Abs(d)
				}
				if want := tt.want(math.Sqrt(square), sum); math.Abs(mean-want) > 5/math.Sqrt(directions) {
					t.Errorf("%s of rows %d and %d: %.4f, want %.4f", name, i, j, mean, want)
				}
			}
		}
	}
}
