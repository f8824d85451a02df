package cells

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
)

// plainInputs returns the inputs of a small grid as they are before sealing.
func plainInputs(t testing.TB) []byte {
	t.Helper()
	v := tumours(t)
	v.Problem.Gram = linalg.Matrix[float64]{Rows: 6, Cols: 6, Stride: 120, Data: v.Problem.Gram.Data}
	v.Problem.Labels, v.Problem.Test, v.Folds = []string{"a", "b", "a", "b", "a", "b"}, make([]bool, 6), 2
	var b bytes.Buffer
	h := header{work: gridWork, digest: sha256.Sum256(nil), cells: 4}
	b.Write(h.encode())
	if err := writeGrid(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// No bytes make a reader of inputs panic, nor what is computed from them.
func FuzzInputs(f *testing.F) {
	good := plainInputs(f)
	head := good[:headerBytes]
	f.Add(good[headerBytes:])
	f.Add(good)
	if in, err := readHeader(bytes.NewReader(good), int64(len(good))); err != nil {
		f.Fatal(err)
	} else if _, err := readGrid(in, all.Reader()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readHeader(bytes.NewReader(b), int64(len(b))); err != nil {
			b = append(slices.Clone(head), b...)
		}
		in, err := readHeader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		v, err := readGrid(in, all.Reader())
		if err != nil {
			return
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := v.TestRows(ctx); err == nil && len(v.Problem.Test) < 10 {
			if try, err := v.Trier(ctx); err == nil {
				_, _ = try(0, 0) // an error is as good as a result
			}
		}
	})
}

// No bytes make a reader of results panic, and what it accepts has one encoding.
func FuzzResult(f *testing.F) {
	outputs := linalg.New[float64](3, 2)
	f.Add(encodeTrials([]tune.Trial{{Score: .5, Correct: 2, Outputs: outputs}, {Outputs: outputs}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if trials, err := decodeTrials(b, 2, 3); err == nil && !bytes.Equal(encodeTrials(trials), b) {
			t.Errorf("%x has a second encoding", b)
		}
	})
}
