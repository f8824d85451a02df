package bench

import (
	"runtime"
)

// The whole task, and the wall time and memory that it may take on two cores.
var wholeTask = cachedSize{rows: 1_000_000, columns: 100, directions: 1024, bits: 16}

const (
	wholeWall = 180     // seconds
	wholePeak = 4 << 10 // MiB
	// percent bounds the garbage that may gather, relative to the memory in use: the same
	// bound that simulate sets where rows are large.
	percent = 25
)

// rows returns the measurements of a training, and the figures that follow for the whole
// task.
func (r cachedFigures) rows(best span) []Row {
	name, as := r.size.String(), wholeTask
	more := float64(as.rows) / float64(r.size.rows)
	whole := as.String()
	if as != r.size {
		whole += ", extrapolated"
	}
	peak := r.peak + (more-1)*float64(r.size.held())*(1+percent/100.)
	return []Row{
		figure(name+", protocol, processor time", r.protocol.cpu, "s"),
		figure(name+", learning, processor time", r.learn.cpu, "s"),
		figure(name+", learning, passes", float64(r.passes), ""),
		figure(name+", wall on "+coresText(runtime.GOMAXPROCS(0)), best.wall, "s"),
		figure(name+", peak memory of all", r.peak/(1<<20), "MiB"),
		figure(whole+", target of wall", more*best.wall, "s").within(wholeWall),
		figure(whole+", processor time", more*best.cpu, "s"),
		figure(whole+", target of memory", peak/(1<<20), "MiB").within(wholePeak),
	}
}

// held counts the bytes that grow with the rows: the columns in float32, phases, targets,
// decisions, and each worker's mark of every row.
func (c cachedSize) held() int {
	return c.rows * (4*c.columns + c.directions*c.bits/8 + 2*8 + 4*fdsklWorkers)
}
