package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// encodeSize holds the sizes at which OKRA's encoders are measured.
type encodeSize struct {
	rows       int
	few, many  int   // smallest and largest number of features for measuring growth; powers of two
	others     []int // additional numbers of features, for which only the cost is shown
	blocked    int   // number of features for encoder block
	blockDgemm int   // order of the matrix product with which encoder block is compared
	flaked     []int // numbers of features for encoder flake
}

// Encode returns a benchmark of OKRA's encoders. It compares encoder hadamard with one reading and
// writing of the encoded rows for each of the encoder's passes. It compares encoder block with
// dgemm, and encoders hadamard and haar with encoder flake. It also measures how the time of
// hadamard grows with the number of features. At these and some more sizes it shows the time for
// one value and one doubling of the width. This time rises when a row no longer fits a cache.
func Encode() Benchmark {
	return encodeOf(encodeSize{rows: 400, few: 1 << 14, many: 1 << 18, others: []int{1 << 16, 1 << 20}, blocked: 1 << 16, blockDgemm: 2048, flaked: []int{128, 512, 2048}})
}

func encodeOf(s encodeSize) Benchmark {
	scenes := []scene{
		sceneOf(fmt.Sprintf("hadamard, %d features", s.many), s, raceHadamard),
		sceneOf(fmt.Sprintf("block, %d features", s.blocked), s, raceBlock),
	}
	for _, f := range s.flaked {
		scenes = append(scenes, sceneOf(fmt.Sprintf("flake, %d features", f), s, raceFlake(s.rows, f)))
	}
	return Benchmark{cases: scenes}
}

// encoding holds an encoder, the rows to encode and a matrix for the encoded rows.
type encoding struct {
	okra.Encoder
	src, dst linalg.Matrix[float64]
}

func newEncoding(spec okra.Spec, n, f int) (encoding, error) {
	p, err := okra.NewParams(spec)
	if err != nil {
		return encoding{}, err
	}
	e, err := okra.NewEncoder(p, okra.Seed{1}, f, okra.Padding(f))
	if err != nil {
		return encoding{}, err
	}
	return encoding{e, noise[float64](n, f, 1), linalg.New[float64](n, e.Width())}, nil
}

func (e encoding) run() run { return pure(func() { e.Encode(e.dst, e.src) }) }

const hadamardRounds = 3

// rowsAt returns the number of rows to encode with f features. If f exceeds s.many, the number is
// smaller: the rows then take half of the memory of s.rows rows with s.many features.
func (s encodeSize) rowsAt(f int) int {
	if f <= s.many {
		return s.rows
	}
	return max(1, s.rows*s.many/(2*f))
}

// perLevel returns hadamard's processor time for one value at one level. Each doubling of the width
// adds a level.
func (e encoding) perLevel(took span) Row {
	width := float64(e.Width())
	return figure(fmt.Sprintf("hadamard, core time of a value and level, %d rows of %d features", e.src.Rows, e.src.Cols),
		1e9*took.cpu/(float64(e.src.Rows)*width*math.Log2(width)), "ns")
}

func raceHadamard(s encodeSize) (race, error) {
	spec := okra.Spec{Encoder: okra.Hadamard, Rounds: hadamardRounds}
	sizes := append([]int{s.few, s.many}, s.others...)
	slices.Sort(sizes)
	var encodings []encoding
	for _, f := range sizes {
		e, err := newEncoding(spec, s.rowsAt(f), f)
		if err != nil {
			return race{}, err
		}
		encodings = append(encodings, e)
	}
	few, many := slices.Index(sizes, s.few), slices.Index(sizes, s.many)
	large := encodings[many]
	const passes = 2*hadamardRounds + 2
	runs := []run{pure(func() {
		for range passes {
			readAndWrite(large.dst)
		}
	})}
	for _, e := range encodings {
		runs = append(runs, e.run())
	}
	return race{
		runs: runs,
		rows: func(best []span) []Row {
			reading, best := best[0], best[1:]
			name := fmt.Sprintf("hadamard, %d rounds, %d rows of %d features", hadamardRounds, s.rows, s.many)
			passing := fmt.Sprintf("reading and writing %d x %d values %d times", s.rows, large.Width(), passes)
			nlogn := func(f int) float64 { return float64(f) * math.Log2(float64(f)) }
			rows := []Row{
				figure(name, best[many].wall, "s").beside(passing, reading.wall).byCPU(best[many].cpu / reading.cpu).atMost(3.5),
				figure(fmt.Sprintf("hadamard, growth from %d to %d features", s.few, s.many), best[many].wall/best[few].wall, "times").
					beside("f log f", nlogn(s.many)/nlogn(s.few)).
					byCPU(best[many].cpu / best[few].cpu / (nlogn(s.many) / nlogn(s.few))).atMost(1),
			}
			for i, e := range encodings {
				rows = append(rows, e.perLevel(best[i]))
			}
			return rows
		},
	}, nil
}

// readAndWrite reads every value and writes back its negative, on all cores.
func readAndWrite(m linalg.Matrix[float64]) {
	linalg.Each(m.Rows, 1, func(i int) {
		row := m.Row(i)
		for j, v := range row {
			row[j] = -v
		}
	})
}

func raceBlock(s encodeSize) (race, error) {
	spec := okra.Spec{Encoder: okra.Block, Mode: okra.Paper, BlockWidth: 96}
	e, err := newEncoding(spec, s.rows, s.blocked)
	if err != nil {
		return race{}, err
	}
	a, b := noise[float64](s.blockDgemm, s.blockDgemm, 1), noise[float64](s.blockDgemm, s.blockDgemm, 2)
	c := linalg.New[float64](s.blockDgemm, s.blockDgemm)
	return race{
		runs: []run{pure(func() { linalg.MulTransB(c, a, b) }), e.run()},
		rows: func(best []span) []Row {
			// Each block maps f/blocks features to width/blocks coordinates.
			blocks := math.Max(1, math.Round(float64(s.blocked)/float64(spec.BlockWidth)))
			flops := 2 * float64(s.rows) * float64(s.blocked) * float64(e.Width()) / blocks
			order := float64(s.blockDgemm)
			return []Row{
				figure(fmt.Sprintf("block, frames of %d, %d rows of %d features", spec.BlockWidth, s.rows, s.blocked), flops/best[1].wall/1e9, "GFLOP/s").
					beside(fmt.Sprintf("dgemm %v", shape{s.blockDgemm, s.blockDgemm, s.blockDgemm}), 2*order*order*order/best[0].wall/1e9).
					byCPU(flops / best[1].cpu / (2 * order * order * order / best[0].cpu)).atLeast(.4),
			}
		},
	}, nil
}

// raceFlake compares FLAKE with OKRA's encoders. The time includes the creation of the encoder. For
// FLAKE, the creation takes nearly all of the time.
func raceFlake(rows, features int) func(encodeSize) (race, error) {
	return func(encodeSize) (race, error) {
		specs := []okra.Spec{{Encoder: okra.Flake}, {Encoder: okra.Haar}, {Encoder: okra.Hadamard, Rounds: hadamardRounds}}
		var runs []run
		for _, spec := range specs {
			e, err := newEncoding(spec, rows, features)
			if err != nil {
				return race{}, err
			}
			runs = append(runs, pure(func() {
				// The call returns no error, because these parameters have created an encoder before.
				if fresh, err := newEncoding(spec, 0, features); err == nil {
					fresh.Encode(e.dst, e.src)
				}
			}))
		}
		return race{runs: runs, rows: func(best []span) []Row {
			var list []Row
			for i, spec := range specs[1:] {
				name := fmt.Sprintf("%s, made and used on %d rows of %d features", spec.Encoder, rows, features)
				list = append(list, figure(name, best[i+1].wall, "s").outruns(okra.Flake, best[0].wall))
			}
			return list
		}}, nil
	}
}
