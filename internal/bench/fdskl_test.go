package bench

import (
	"runtime"
	"testing"
)

// A run leaves no memory of the size of its table, since the next run makes its own.
func TestTurnLeavesNoTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	size := cachedSize{rows: 4000, columns: 8, directions: 1024, bits: 16}
	r, err := raceWhole(size)
	if err != nil {
		t.Fatal(err)
	}
	before := inUse()
	if err := r.runs[0](t.Context()); err != nil {
		t.Fatal(err)
	}
	table := int64(size.rows * size.directions * size.bits / 8)
	if left := inUse() - before; left > table/4 {
		t.Errorf("%d bytes are left of a turn whose table had %d", left, table)
	}
	runtime.KeepAlive(r)
}

// inUse returns the number of bytes that the collector cannot free.
func inUse() int64 {
	for range 2 { // pools release their content at the second
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
