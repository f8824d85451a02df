package ridge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// A fit whose context ends factors no further columns; the error blames no matrix.
func TestInterrupt(t *testing.T) {
	x := noise(500, 3, 1)
	k, y := kernel.Dense{K: kernel.LinearGram(x)}, make([]float64, 500)
	for name, fit := range map[string]func(interrupt func() error) error{
		"ridge": func(interrupt func() error) error {
			_, err := ridge.FitUntil(k, y, 1, interrupt)
			return err
		},
		"gp": func(interrupt func() error) error {
			_, err := ridge.FitGP(k, y, ridge.GPParams{Noise: 1, Interrupt: interrupt})
			return err
		},
		"targets": func(interrupt func() error) error {
			return ridge.FitTargetsUntil(k, linalg.New[float64](2, 500), 1, interrupt)
		},
	} {
		const after = 3
		for _, end := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			asked := 0
			err := fit(func() error {
				if asked++; end && asked == after {
					cancel()
				}
				return ctx.Err()
			})
			cancel()
			switch {
			case !end && (err != nil || asked < 2*after):
				t.Errorf("%s, %d questions: %v", name, asked, err)
			case end && (!errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "factored") || asked != after):
				t.Errorf("%s: error %v after %d questions, want the context's", name, err, asked)
			}
		}
	}
}

// What is fitted does not keep what the caller asked to be interrupted by.
func TestGPKeepsNoInterrupt(t *testing.T) {
	k := kernel.Dense{K: kernel.LinearGram(noise(5, 2, 1))}
	gp, err := ridge.FitGP(k, make([]float64, 5), ridge.GPParams{Noise: 1, Interrupt: t.Context().Err})
	if err != nil || gp.Params.Interrupt != nil {
		t.Errorf("%v, or it keeps its interrupt", err)
	}
}
