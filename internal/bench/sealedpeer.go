package bench

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
)

// spuPackage is the Python package of SPU, which computes on shares of three parties.
const spuPackage = "spu"

// SealedPeers returns the names of the programs with which [Sealed] can be compared.
func SealedPeers() []string { return []string{spuPackage} }

// spuScript computes steps of a ridge regression by SPU, in a process of its own, and prints the costs and the error.
//
//go:embed sealedpeer.py
var spuScript []byte

// spuSteps is the number of steps that SPU computes. A whole ridge regression needs more steps.
const spuSteps = 100

// SealedPeer is a Python with the package spu.
type SealedPeer struct{ python interpreter }

// FindSealedPeer returns SPU in a Python interpreter. The benchmark notes it if the package is missing.
func FindSealedPeer(python string) *SealedPeer {
	return &SealedPeer{interpreter{python, spuScript}}
}

// scene returns the case of SPU alone.
func (p *SealedPeer) scene(size SealedSize) scene {
	return scene{spuPackage, func(ctx context.Context) (race, error) {
		if err := p.python.has(ctx, spuPackage); err != nil {
			return race{}, unavailable{err.Error()}
		}
		t := &spuTurns{p.python, size, nil}
		return race{runs: []run{t.run}, rows: func([]span) []Row { return t.figures() }}, nil
	}}
}

// spuReport holds what SPU printed of one run: seconds, and the largest error relative to the largest result.
type spuReport struct {
	Wall float64 `json:"wall"`
	CPU  float64 `json:"cpu"`
	Off  float64 `json:"off"`
}

// spuTurns holds the turn with the least processor time.
type spuTurns struct {
	python interpreter
	size   SealedSize
	best   *spuReport
}

func (t *spuTurns) run(ctx context.Context) error {
	var r spuReport
	arguments := []string{spuPackage}
	for _, n := range []int{t.size.Rows, t.size.Features, t.size.Targets, spuSteps} {
		arguments = append(arguments, strconv.Itoa(n))
	}
	if err := t.python.run(ctx, &r, arguments...); err != nil {
		return err
	}
	if t.best == nil || r.CPU < t.best.CPU {
		t.best = &r
	}
	return nil
}

func (t *spuTurns) figures() []Row {
	what := fmt.Sprintf("spu (ABY3), %v, %d steps without a check", t.size, spuSteps)
	return []Row{
		figure(what+": processor time", t.best.CPU, "CPU s"),
		figure(what+": wall time", t.best.Wall, "s"),
		figure(what+": largest error, relative", t.best.Off, ""),
	}
}
