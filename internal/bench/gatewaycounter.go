package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"

	"github.com/mercer-fl/mercer/internal/anonymous/counter"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// raceCounter measures how long the counter needs for windows of increasing sizes. It uses distinct
// nonces and writes records to disk, but needs no cryptography and no network.
func raceCounter(dir string, sizes []int) (race, error) {
	p, err := secvm.NewParams(secvm.Spec{Name: "bench", Bins: 1 << 14, Packages: 16, Cohort: 100})
	if err != nil {
		return race{}, err
	}
	var memory float64 // largest memory per package in bytes
	r := race{}
	for _, n := range sizes {
		r.runs = append(r.runs, func(context.Context) error {
			return countWindow(p, dir, n, func(int) {})
		})
	}
	most := sizes[len(sizes)-1]
	r.runs = append(r.runs, func(context.Context) (err error) {
		memory, err = memoryOfPackages(p, dir, sizes[0], most)
		return err
	})
	r.rows = func(best []span) []Row {
		var rows []Row
		each := func(i int) float64 { return best[i].cpu / float64(sizes[i]) }
		for i, n := range sizes {
			row := figure(fmt.Sprintf("counter: a window of %d packages, processor time of each", n), each(i), "s")
			if i > 0 {
				row = row.beside(fmt.Sprintf("in a window of %d", sizes[0]), each(0)).atMost(linearly)
			}
			rows = append(rows, row)
		}
		return append(rows, figure(fmt.Sprintf("counter: memory beside the counts, the most of a package from %d to %d of them", sizes[0], most), memory, "bytes").within(64))
	}
	return r, nil
}

// countWindow counts n packages in a new counter. At the start and after each record it calls
// report with the number of packages counted so far.
func countWindow(p secvm.Params, dir string, n int, report func(int)) (err error) {
	least := gatewayLeast(n)
	c, err := counter.Open(p, filepath.Join(dir, "packages"), least)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Remove()) }()
	report(0)
	nonces := rand.NewChaCha8(seedOf("nonces", n))
	for i := range n {
		var id counter.Nonce
		binary.LittleEndian.PutUint64(id[:], nonces.Uint64())
		binary.LittleEndian.PutUint64(id[8:], nonces.Uint64())
		if _, _, err := c.Count(id, trainingPackage(p, i)); err != nil {
			return err
		}
		if i%least == least-1 || i == n-1 {
			if _, err := c.Record(false); err != nil {
				return err
			}
			report(i + 1)
		}
	}
	return allCounted(c.Tally(), n)
}

func allCounted(t *secvm.Tally, packages int) error {
	units := uint64(0)
	for i := range t.Plus {
		units += t.Plus[i] + t.Minus[i]
	}
	if units != uint64(packages) {
		return fmt.Errorf("bench: the tally has %d packages; %d packages were sent", units, packages)
	}
	return nil
}

// memoryOfPackages returns the counter's largest memory per package while a window grows, in bytes.
// It counts live memory, less the live memory of the empty counter. It measures each time the
// window has grown by a seventh, because hash tables grow in steps.
func memoryOfPackages(p secvm.Params, dir string, from, to int) (most float64, err error) {
	var empty uint64
	next := from
	err = countWindow(p, dir, to, func(n int) {
		switch {
		case n == 0:
			empty = liveBytes()
		case n >= next:
			most = max(most, (float64(liveBytes())-float64(empty))/float64(n))
			next = max(n+1, n*8/7)
		}
	})
	return most, err
}

// liveBytes returns the size of the heap after a garbage collection.
func liveBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
