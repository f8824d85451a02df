package secvm_test

import (
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

// One window of one device: 64 packages made, written, read and counted.
func BenchmarkWindow(b *testing.B) {
	p := params(b, func(s *secvm.Spec) { s.Bins, s.Packages = 1<<14, 64 })
	var names []string
	for i := range 20 {
		names = append(names, strconv.Itoa(i))
	}
	d := device(b, p, p.Vector(names), 1, secvm.Train)
	w := checked(b, p, make([]float64, p.Features()))
	r, tally := random(1), secvm.NewTally(p)
	var buffer [secvm.PackageSize]byte
	for b.Loop() {
		list, err := d.Answer(0, w, r)
		if err != nil {
			b.Fatal(err)
		}
		for _, one := range list {
			read, err := secvm.DecodePackage(one.Append(buffer[:0]))
			if err == nil {
				err = tally.Add(read)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/package")
}
