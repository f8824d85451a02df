package linalg_test

import (
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func TestRingShapes(t *testing.T) {
	for name, f := range map[string]func(){
		"bits":        func() { linalg.RoundTurns(make([]byte, 3), make([]float64, 1), 24) },
		"bytes":       func() { linalg.RoundTurns(make([]byte, 3), make([]float64, 1), 16) },
		"waves' bits": func() { linalg.CosSin(make([]float32, 1), make([]float32, 1), make([]byte, 1), 9, 1) },
		"sines":       func() { linalg.CosSin(make([]float32, 1), make([]float32, 2), make([]byte, 1), 8, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestWordsPanicOnOtherLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("7 bytes are added to a word")
		}
	}()
	linalg.AddWords(make([]uint64, 1), make([]byte, 7))
}
