package model_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// rowless is a model without its rows.
func rowless(t testing.TB, m *model.Model) *model.Rowless {
	t.Helper()
	s := model.RowlessSpec{Kernel: m.Kernel(), Head: m.Head(), Squares: kernel.SquaredNorms(m.Vectors())}
	if m.Kind() == model.GP {
		s.Dot = kernel.LinearGram(m.Vectors())
	}
	r, err := model.NewRowless(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encodeRowless(t testing.TB, m *model.Rowless) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := model.EncodeRowless(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A model decides alike with its rows and without them, also after it was in a
// file, which no command mistakes for one that predicts.
func TestRowlessDecidesAsTheModelDoes(t *testing.T) {
	for kind, m := range every(t) {
		t.Run(string(kind), func(t *testing.T) {
			rows := linalg.New[float64](3, m.Width())
			for i := range rows.Data {
				rows.Data[i] = math.Sin(float64(i))
			}
			want, err := m.Decisions(rows)
			if err != nil {
				t.Fatal(err)
			}
			file := encodeRowless(t, rowless(t, m))
			r, err := model.OpenRowless(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.Decisions(kernel.CrossGram(rows, m.Vectors()), kernel.SquaredNorms(rows))
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got.Data {
				if math.Abs(v-want.Data[i]) > 1e-12 {
					t.Fatalf("decisions %v, and %v with the rows", got.Data, want.Data)
				}
			}
			if _, n := m.Vectors().Shape(); r.Outputs() != want.Cols || n != m.Width() {
				t.Errorf("%d outputs, want %d", r.Outputs(), want.Cols)
			}
			if _, err := model.Open(bytes.NewReader(file)); !errors.Is(err, model.ErrFormat) || !strings.Contains(err.Error(), "several parties hold the rows of this model") {
				t.Errorf("opened as a model: %v", err)
			}
		})
	}
}

func TestRowlessRefuses(t *testing.T) {
	m := small(t)
	good := model.RowlessSpec{Kernel: m.Kernel(), Head: m.Head(), Squares: kernel.SquaredNorms(m.Vectors())}
	for want, change := range map[string]func(*model.RowlessSpec){
		"not finite":                func(s *model.RowlessSpec) { s.Squares = append([]float64{math.NaN()}, s.Squares[1:]...) },
		"inner products; a":         func(s *model.RowlessSpec) { s.Dot = linalg.New[float64](2, 2) },
		"model:":                    func(s *model.RowlessSpec) { s.Kernel.Name = "cubic" },
		"must hold random features": func(s *model.RowlessSpec) { s.Head.Kind = model.Logistic },
		"no function uses row":      func(s *model.RowlessSpec) { s.Squares = append(s.Squares, 1) },
	} {
		s := good
		change(&s)
		if _, err := model.NewRowless(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	r := rowless(t, m)
	for _, cols := range []int{r.Rows() - 1, r.Rows() + 1} {
		if _, err := r.Decisions(linalg.New[float64](1, cols), []float64{1}); err == nil {
			t.Errorf("decided by %d inner products with %d rows", cols, r.Rows())
		}
	}
	if _, err := r.Decisions(linalg.New[float64](1, r.Rows()), nil); err == nil {
		t.Error("decided without squares")
	}
}

func FuzzOpenRowless(f *testing.F) {
	for _, m := range every(f) {
		f.Add(encodeRowless(f, rowless(f, m)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		files := [][]byte{b}
		if len(b) >= prefix+sha256.Size { // get past the checksum
			files = append(files, seal(b[:len(b)-sha256.Size]))
		}
		for _, file := range files {
			m, err := model.OpenRowless(bytes.NewReader(file))
			if err != nil {
				continue
			}
			if again := encodeRowless(t, m); !bytes.Equal(again, file) {
				t.Errorf("%x is read as what is written %x", file, again)
			}
		}
	})
}
