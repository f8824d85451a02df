package sealed

// A step of a machine takes about 100 ms at most. These are the multiply-adds, and the words that are drawn, added or
// hashed, of one piece of work: some 70 and 20 ms on one core.
const (
	pieceProducts = 1 << 26
	pieceWords    = 1 << 19
)

// pieces is work that is cut into pieces. They run in order, one in a step of the machine.
type pieces []func() error

// then adds a piece.
func (p *pieces) then(do func() error) { *p = append(*p, do) }

// rows adds pieces that compute rows 0 to n-1 in order. Row i takes cost(i) multiply-adds.
func (p *pieces) rows(n int, cost func(row int) int, do func(lo, hi int)) {
	for lo := 0; lo < n; {
		hi, sum := lo+1, cost(lo)
		for hi < n && sum+cost(hi) <= pieceProducts {
			sum += cost(hi)
			hi++
		}
		from := lo
		p.then(func() error { do(from, hi); return nil })
		lo = hi
	}
}

// run does the next piece, and reports whether there was one. A piece that fails stays.
func (p *pieces) run() (bool, error) {
	if len(*p) == 0 {
		return false, nil
	}
	if err := (*p)[0](); err != nil {
		return false, err
	}
	(*p)[0] = nil // frees what the piece has used
	*p = (*p)[1:]
	return true, nil
}
