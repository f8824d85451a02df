package fedcfk

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// ItemKernel is the kernel between items, which is the whole model. The coordinator broadcasts it to the
// remaining devices. They receive the whole kernel, so no device has to request rows, except in mode
// paper.
type ItemKernel struct {
	Catalogue int      // number of items in the catalogue
	Kept      []int    // items in the kernel, ascending
	Values    []uint16 // kernel values of pairs i <= j of kept items, by row, in multiples of 1/One
}

// One is the integer that represents a kernel value of 1.
const One = math.MaxUint16

// SpecOf converts a job's kernel to the form of package learn/komd.
func SpecOf(k job.Kernel) komd.Spec {
	return komd.Spec{Name: komd.Name(k.Name), Degree: k.Degree, Clause: k.Clause, Coef0: k.Coef0, Gamma: k.Gamma, Coefficients: k.Coefficients}
}

// ItemKernel computes the kernel from the two sums over the given number of people. The slice
// popularity has the number of likes of each item, or the sum of the item's squared ratings. The
// slice pairs has the count of each pair i < j of kept items, row by row. People who are missing
// from the second sum make the counts of pairs too small; without ratings, by at most the number of
// these people. The diagonal is never too small, as if each missing person were several people who like one item
// each. So the result is a kernel, up to rounding; the solver refuses any other matrix.
func (c Devices) ItemKernel(kept []int, popularity, pairs []int64, people int) (*ItemKernel, error) {
	counts := komd.Counts{Users: people, Most: c.Keys().Ratings, C: linalg.New[float64](len(kept), len(kept))}
	at := 0
	for r, item := range kept {
		counts.C.Row(r)[r] = float64(popularity[item])
		for s := r + 1; s < len(kept); s++ {
			n := float64(pairs[at])
			counts.C.Row(r)[s], counts.C.Row(s)[r] = n, n
			at++
		}
	}
	values, err := SpecOf(c.Job.Kernel).Kernel(counts)
	if err != nil {
		return nil, err
	}
	k := &ItemKernel{Catalogue: c.Items, Kept: kept, Values: make([]uint16, 0, Entries(len(kept)))}
	for r := range kept {
		k.Values = append(k.Values, Quantised(values.Row(r)[r:])...)
	}
	return k, nil
}

// Quantised cuts kernel values to 0 to 1 and rounds them to multiples of 1/One. It returns the multiples.
func Quantised(values []float64) []uint16 {
	out := make([]uint16, len(values))
	for i, v := range values {
		out[i] = uint16(math.Round(min(max(v, 0), 1) * One))
	}
	return out
}

// Model returns the model from which a device recommends. Its kernel covers the whole catalogue,
// with zeros for items that are not kept.
func (k *ItemKernel) Model() *komd.Model {
	full := linalg.New[float64](k.Catalogue, k.Catalogue)
	at := 0
	for r, i := range k.Kept {
		for _, j := range k.Kept[r:] {
			v := float64(k.Values[at]) / One
			full.Row(i)[j], full.Row(j)[i] = v, v
			at++
		}
	}
	return komd.New(full)
}

// Encode returns the canonical encoding, which the coordinator broadcasts.
func (k *ItemKernel) Encode() []byte {
	var w wire.Writer
	w.Grow(kernelBytes(len(k.Kept)))
	w.String("mercer/v1/item-kernel")
	w.Uint32(uint32(k.Catalogue))
	w.Uint32(uint32(len(k.Kept)))
	for _, i := range k.Kept {
		w.Uint32(uint32(i))
	}
	for _, v := range k.Values {
		w.Uint16(v)
	}
	return w.Bytes()
}

// kernelBytes returns the largest size of an encoded kernel between the given number of items.
func kernelBytes(items int) int { return 64 + 4*items + 2*Entries(items) }

// DecodeItemKernel decodes the output of Encode.
func DecodeItemKernel(b []byte) (*ItemKernel, error) {
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != "mercer/v1/item-kernel" {
		r.Fail(fmt.Errorf("the kernel begins with %q, which is another format", magic))
	}
	k := &ItemKernel{Catalogue: int(r.Uint32())}
	if r.Err() == nil && (k.Catalogue < 1 || k.Catalogue > MaxItems) {
		r.Fail(fmt.Errorf("the catalogue has %d items, which is out of range", k.Catalogue))
	}
	k.Kept = make([]int, r.Count(min(k.Catalogue, MaxItems), 4))
	last := -1
	for at := range k.Kept {
		i := int(r.Uint32())
		if r.Err() == nil && (i <= last || i >= k.Catalogue) {
			r.Fail(fmt.Errorf("item %d follows item %d; items must increase and be below %d", i, last, k.Catalogue))
		}
		k.Kept[at], last = i, i
	}
	if n := Entries(len(k.Kept)); r.Err() == nil && r.Len() != 2*n {
		r.Fail(fmt.Errorf("%d bytes follow for %d pairs of items; each pair takes two bytes", r.Len(), n))
	}
	if r.Err() == nil {
		k.Values = make([]uint16, Entries(len(k.Kept)))
		for at := range k.Values {
			k.Values[at] = r.Uint16()
		}
	}
	return k, r.Close("fedcfk: item kernel")
}
