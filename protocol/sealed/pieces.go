package sealed

import "github.com/mercer-fl/mercer/protocol/internal/ring128"

// A step of a machine takes about 100 ms at most. Work is measured in multiply-adds of products, of 1.2 to 1.6 ns on
// one core, which other programs may slow down. To draw, copy or add a word takes up to wordWork of them, mostly for
// memory that is touched first.
const (
	stepWork  = 3 << 24
	wordWork  = 16
	stepWords = stepWork / wordWork / 4 // number of words of each mask that a collection adds in a step
)

// pieces is work that is cut into pieces, which run in order. One step of the machine runs as many as it has time for.
type pieces []piece

type piece struct {
	work int // time that the piece takes, in multiply-adds
	do   func() error
}

// then adds a piece. One with more than stepWork is not divided: a stream is drawn in one piece, and the 8.4 million
// words of a triangle of 4,096 rows take about as long.
func (p *pieces) then(work int, do func() error) { *p = append(*p, piece{work, do}) }

// split adds pieces that handle rows 0 to n-1 in order. Row i takes work(i). A piece has at most stepWork, or is one
// row.
func (p *pieces) split(n int, work func(row int) int, do func(lo, hi int)) {
	for lo := 0; lo < n; {
		hi, sum := lo+1, work(lo)
		for hi < n && sum+work(hi) <= stepWork {
			sum += work(hi)
			hi++
		}
		from := lo
		p.then(sum, func() error { do(from, hi); return nil })
		lo = hi
	}
}

// words adds pieces that handle n words.
func (p *pieces) words(n int, do func(lo, hi int)) {
	const most = stepWork / wordWork
	for lo := 0; lo < n; lo += most {
		hi := min(lo+most, n)
		p.then((hi-lo)*wordWork, func() error { do(lo, hi); return nil })
	}
}

// add adds pieces that add x to dst.
func (p *pieces) add(dst, x []ring128.Word) {
	p.words(len(dst), func(lo, hi int) { ring128.Add(dst[lo:hi], x[lo:hi]) })
}

// sub adds pieces that subtract x from dst.
func (p *pieces) sub(dst, x []ring128.Word) {
	p.words(len(dst), func(lo, hi int) { ring128.Sub(dst[lo:hi], x[lo:hi]) })
}

// draw adds a piece that draws words from a source.
func (p *pieces) draw(words []ring128.Word, from source, step int, of purpose) {
	p.then(len(words)*wordWork, func() error { return from.draw(words, step, of) })
}

// symmetric adds pieces that make the symmetric matrix of an upper triangle.
func (p *pieces) symmetric(n int, triangle []ring128.Word) ring128.Matrix {
	m := ring128.New(n, n)
	p.split(n, func(i int) int { return 2 * (n - i) * wordWork }, func(lo, hi int) { ring128.SetSymmetric(m, triangle, lo, hi) })
	return m
}

// run does the next pieces, and reports whether there were any. A piece that fails stays.
func (p *pieces) run() (bool, error) {
	if len(*p) == 0 {
		return false, nil
	}
	for sum, list := 0, *p; len(list) > 0; list = *p {
		next := list[0]
		if sum += next.work; sum > stepWork && sum > next.work {
			break
		}
		if err := next.do(); err != nil {
			return false, err
		}
		*p = (*p)[1:]
		list[0] = piece{} // frees the memory that the piece has used
	}
	return true, nil
}
