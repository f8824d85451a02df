package fdskl

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// Requests are for unknown phases only, combine rows known in the same number of directions, and
// fit into a message.
func TestBook(t *testing.T) {
	const most = protocol.MaxChunkBytes / 4
	b := NewBook(10, 32)
	b.Want([]int{1, 2, 5}, 3)
	b.Want([]int{1, 3, 5, 6}, most+4)
	b.Want([]int{2, 6}, 3) // known
	want := []Request{
		{Rows: []Span{{1, 2}, {5, 1}}, Directions: Span{0, 3}},
		{Rows: []Span{{1, 1}, {5, 1}}, Directions: Span{3, most}},
		{Rows: []Span{{1, 1}, {5, 1}}, Directions: Span{3 + most, 1}},
		{Rows: []Span{{3, 1}, {6, 1}}, Directions: Span{0, most}},
		{Rows: []Span{{3, 1}, {6, 1}}, Directions: Span{most, 4}},
	}
	for _, w := range want {
		if q, more := b.Next(); !more || !reflect.DeepEqual(q, w) || b.Directions() != w.Directions {
			t.Errorf("%+v, %v, want %+v", q, more, w)
		}
	}
	if q, more := b.Next(); more {
		t.Errorf("%+v behind the last", q)
	}
}

// Whatever rows are wanted, workers with marks refuse none of the requests.
func TestBookIsAnswered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b, m := NewBook(30, 16), make(marks, 30)
	for range 200 {
		rows := make([]int, 0, 30)
		for r := range 30 {
			if rng.IntN(3) == 0 {
				rows = append(rows, r)
			}
		}
		b.Want(rows, 1+rng.IntN(50))
		for q, more := b.Next(); more; q, more = b.Next() {
			if err := m.check(q, Span{0, 50}, b.maxDirections); err != nil {
				t.Fatal(err)
			}
			m.markAnswered(q)
		}
	}
}

// The paper's costs grow with the square of the iterations (Gu et al. 2020, section 3.3): each
// iteration draws a row and needs it in all directions so far, a word for each. Rows that are drawn
// again are asked for in new directions only, so that with few rows the words grow with the
// iterations.
func TestWordsGrowWithTheSquareOfIterationsUntilRowsComeAgain(t *testing.T) {
	for _, iterations := range []int{100, 200, 400} {
		if got, want := wordsOfTraining(iterations, iterations), iterations*(iterations+1)/2; got != want {
			t.Errorf("%d iterations on as many rows: %d words, want %d", iterations, got, want)
		}
	}
	const rows = 10
	for _, iterations := range []int{100, 200, 400} {
		// Each row is known in all directions up to its last draw.
		if got, want := wordsOfTraining(rows, iterations), rows*iterations-rows*(rows-1)/2; got != want {
			t.Errorf("%d iterations on %d rows: %d words, want %d", iterations, rows, got, want)
		}
	}
}

// wordsOfTraining counts the words that a worker sends about rows that are drawn in turns, one in
// each iteration.
func wordsOfTraining(rows, iterations int) (words int) {
	b := NewBook(rows, 16)
	for i := range iterations {
		b.Want([]int{i % rows}, i+1)
		for q, more := b.Next(); more; q, more = b.Next() {
			words += q.rowCount() * q.Directions.Count
		}
	}
	return words
}
