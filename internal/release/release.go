package release

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
)

// Kind says what of the data a session lets out.
type Kind string

// The kinds. Releases of two kinds are not compared.
const (
	Products Kind = "products" // of rows over the columns: Gram matrices
	IDs      Kind = "ids"      // which are common to all parties
	Phases   Kind = "phases"   // of rows over the columns, in a sum: distances
	Rows     Kind = "rows"     // encoded by an isometry: a Gram matrix of all of them
	Sums     Kind = "sums"     // over the rows, of features' products
)

// Release is what a party lets out in one session.
type Release struct {
	Kind     Kind
	Job      string // its name, for the operator to know it by; the ID does not depend on it
	Question bool   // about more rows of a model
	Peers    []string
	Scale    string       // how columns are scaled
	Label    string       // the column that is let out as labels, or goes into sums; "" for none
	Table    string       // the catalogue's name, by which rows without ids are known
	Set      *dataset.Set // with labels where these go into sums
	Among    []int        // the rows that are let out, of the set; nil for all
	// Model names the job that the rows were for, or whose model they are predicted
	// by; "" where nobody asks later and nothing is counted.
	Model string
	// Directions is how many random directions are let out of each row.
	Directions int
}

// Row is a person, with the digest of all that is let out of that person's values.
type Row struct{ Person, Content [16]byte }

// rows returns how many rows are let out, and the place of the i-th in the set.
func (r Release) rows() (n int, place func(int) int) {
	if r.Among != nil {
		return len(r.Among), func(i int) int { return r.Among[i] }
	}
	if r.Set.X == nil { // ids only
		return len(r.Set.IDs), func(i int) int { return i }
	}
	return r.Set.X.Rows(), func(i int) int { return i }
}

// entry digests the release under the ledger's key.
func (r Release) entry(key []byte) *Entry {
	e := &Entry{
		Kind: r.Kind, Job: r.Job, Question: r.Question,
		Peers: slices.Compact(slices.Sorted(slices.Values(r.Peers))),
	}
	if r.Kind != IDs {
		e.Scale, e.Label = r.Scale, r.Label
		e.Columns, e.Width = r.columns()
	}
	if r.Model != "" {
		e.Uses = []Use{{r.Model, uint32(r.Directions)}}
	}
	n, place := r.rows()
	d := newDigest(key, r)
	e.Rows = make([]Row, n)
	for i := range e.Rows {
		e.Rows[i] = d.row(place(i))
	}
	e.Rows = people(e.Rows)
	return e
}

// columns returns the names of what is let out, ascending, and their number; no names
// where the table has none. Of sums the label is one: it is in them like the others.
func (r Release) columns() ([]string, int) {
	width := r.Set.X.Cols()
	names := slices.Clone(r.Set.Columns)
	if r.labelled() {
		width++
		if names != nil {
			names = append(names, r.Label)
		}
	}
	slices.Sort(names)
	return names, width
}

// labelled says that labels are part of each row's values.
func (r Release) labelled() bool { return r.Kind == Sums && r.Set.Labels != nil }

// digest makes digests of a release's rows.
type digest struct {
	Release
	mac   hash.Hash
	rank  []uint32 // of each column, by name; the last is the label's
	cells []cell
	buf   []byte
	head  []byte
}

type cell struct {
	rank uint32
	bits uint64
}

func newDigest(key []byte, r Release) *digest {
	d := &digest{Release: r, mac: hmac.New(sha256.New, key)}
	if r.Kind == IDs {
		return d
	}
	_, width := r.columns()
	order := make([]int, width)
	for c := range order {
		order[c] = c
	}
	if names := r.Set.Columns; names != nil {
		names = append(slices.Clone(names), r.Label)
		slices.SortStableFunc(order, func(a, b int) int { return compareText(names[a], names[b]) })
	}
	d.rank = make([]uint32, width)
	for rank, c := range order {
		d.rank[c] = uint32(rank)
	}
	return d
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// row digests the row at a place of the set.
func (d *digest) row(i int) Row {
	var out Row
	if d.Set.IDs != nil {
		out.Person = d.sum("id", []byte(d.Set.IDs[i]))
	} else {
		place := binary.LittleEndian.AppendUint64(nil, uint64(i))
		out.Person = d.sum("place", append(place, d.Table...))
	}
	if d.Kind != IDs {
		out.Content = d.sum("values", d.values(i))
	}
	return out
}

// values are the cells that are not zero, by the rank of their names: whatever the
// order of columns, and dense or sparse, they have one encoding.
func (d *digest) values(i int) []byte {
	d.cells, d.buf = d.cells[:0], d.buf[:0]
	d.Set.X.Each(i, func(c int, v float64) {
		if v != 0 {
			d.cells = append(d.cells, cell{d.rank[c], math.Float64bits(v)})
		}
	})
	var text string
	if d.labelled() {
		text = d.Set.Labels[i]
		// A label that is a number is the same value as when it is a column.
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			text = ""
			if v != 0 {
				d.cells = append(d.cells, cell{d.rank[len(d.rank)-1], math.Float64bits(v)})
			}
		}
	}
	slices.SortFunc(d.cells, func(a, b cell) int { return int(a.rank) - int(b.rank) })
	for _, c := range d.cells {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, c.rank)
		d.buf = binary.LittleEndian.AppendUint64(d.buf, c.bits)
	}
	return append(d.buf, text...)
}

func (d *digest) sum(what string, b []byte) (out [16]byte) {
	d.mac.Reset()
	d.head = append(append(d.head[:0], "mercer/v2/"...), what...)
	d.head = binary.LittleEndian.AppendUint64(append(d.head, '/'), uint64(len(b)))
	d.mac.Write(d.head)
	d.mac.Write(b)
	copy(out[:], d.mac.Sum(nil))
	return out
}

// people sorts rows by person, and makes one of all rows of the same person.
func people(rows []Row) []Row {
	slices.SortFunc(rows, compareRows)
	out := rows[:0]
	for first := 0; first < len(rows); {
		end := first + 1
		for end < len(rows) && rows[end].Person == rows[first].Person {
			end++
		}
		one := rows[first]
		if end-first > 1 {
			h := sha256.New()
			for _, r := range rows[first:end] {
				h.Write(r.Content[:])
			}
			copy(one.Content[:], h.Sum(nil))
		}
		out, first = append(out, one), end
	}
	return out
}
