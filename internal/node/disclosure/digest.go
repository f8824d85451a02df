package disclosure

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/method"
)

// Row is a person, with a digest of all values of that person that are released.
type Row struct {
	Person, Content [16]byte
	Class           uint16  // of sums over labels: two bytes of the digest of the class or number; else 0
	Label           [8]byte // part of the digest of the label that is released with the row, or of the labels of several rows; else zero
	// Group is the digest of the person that several ids of a sum belong to; zero where each id is a
	// person.
	Group [16]byte
}

// whose returns who counts as one person: the group, or else the person.
func (r *Row) whose() [16]byte {
	if r.Group != ([16]byte{}) {
		return r.Group
	}
	return r.Person
}

// rowsOf returns the number of released rows, and the place of the i-th in the set.
func rowsOf(r method.Release) (n int, place func(int) int) {
	if r.Among != nil {
		return len(r.Among), func(i int) int { return r.Among[i] }
	}
	if r.Set.X == nil { // ids only
		return len(r.Set.IDs), func(i int) int { return i }
	}
	return r.Set.X.Rows(), func(i int) int { return i }
}

// newEntry digests a release under the ledger's key.
func newEntry(key []byte, r method.Release) *Entry {
	e := &Entry{
		Kind: r.Kind, Also: r.Also, Job: r.Job, Question: r.Question,
		Peers: slices.Compact(slices.Sorted(slices.Values(r.Peers))),
	}
	if r.Kind != method.ReleaseIDs {
		e.Scale, e.Label, e.Split = r.Scale, r.Label, r.Split
		e.Columns, e.Width = columnsOf(r)
	}
	if r.Model != "" {
		e.Uses = []Use{{r.Model, uint32(r.Directions), uint64(r.Numbers), uint64(r.Cells)}}
	}
	n, place := rowsOf(r)
	d := newDigest(key, r)
	if r.Edition.ID == "" {
		e.Rows, e.More = d.rows(n, place)
	} else {
		e.Edition, e.Number, e.Size, e.Out = r.Edition.ID, r.Edition.Number, n, r.Edition.Out
		e.who = d.who
		e.listed = func() ([]Row, []Member) { return d.rows(n, place) }
	}
	e.Numbers = labelled(r) && !r.Classes
	switch {
	case e.Kind == method.ReleaseRows:
		e.Clear = r.Edition.Clear.Rows
	case !labelled(r):
		e.Clear = r.Edition.Clear.Sums
	case r.Classes:
		e.Clear = r.Edition.Clear.Classes
	default:
		e.Clear = r.Edition.Clear.Numbers
	}
	e.Table = r.Table
	if r.Schema != "" {
		e.Schema = d.hex("schema", []byte(r.Schema))
	}
	if e.fitted() || e.Kind == method.ReleaseFit {
		e.Fit = d.fit()
	}
	return e
}

// fit digests the origin of a fit, that is the party's own rows in it, and its values.
func (d *digest) fit() Fit {
	f := Fit{By: d.Fit.By}
	switch f.By {
	case method.KeptFit, method.ToldFit:
		f.Told = d.hex("fit of job", d.Fit.Earlier[:])
	case method.NewFit:
		all := []byte(d.Edition.ID)
		if d.Edition.ID == "" {
			rows, _ := d.rows(len(d.Fit.Among), func(i int) int { return d.Fit.Among[i] })
			for _, row := range rows {
				all = append(append(all, row.Person[:]...), row.Content[:]...)
			}
		}
		for _, name := range d.Fit.Train {
			all = append(binary.LittleEndian.AppendUint32(all, uint32(len(name))), name...)
		}
		f.Among = d.hex("fitted on", all)
	}
	if d.Fit.Values != nil {
		f.Values = d.hex("fit", d.Fit.Values)
	}
	return f
}

// rows digests n rows of the set and merges all rows of a person into one. It returns the further
// classes of such people apart.
func (d *digest) rows(n int, place func(int) int) ([]Row, []Member) {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = d.row(place(i))
	}
	return people(rows)
}

func (d *digest) hex(what string, b []byte) string {
	sum := d.sum(what, b)
	return hex.EncodeToString(sum[:])
}

// columnsOf returns the names of the released columns, ascending, and their number; no names where the
// table has none. In sums the label counts as a column.
func columnsOf(r method.Release) ([]string, int) {
	width := r.Set.X.Cols()
	names := slices.Clone(r.Set.Columns)
	if labelled(r) {
		width++
		if names != nil {
			names = append(names, r.Label)
		}
	}
	slices.Sort(names)
	return names, width
}

// labelled reports whether labels are part of each row's values. In other kinds they are released
// beside the row.
func labelled(r method.Release) bool { return r.Kind == method.ReleaseSums && r.Set.Labels != nil }

// digest makes digests of a release's rows.
type digest struct {
	method.Release
	mac   hash.Hash
	order []int    // the columns by name; the label comes after the last column
	rank  []uint32 // of each column, by name; the last is the label's
	cells []cell
	buf   []byte
	head  []byte
}

type cell struct {
	rank uint32
	bits uint64
}

func newDigest(key []byte, r method.Release) *digest {
	d := &digest{Release: r, mac: hmac.New(sha256.New, key)}
	if r.Kind == method.ReleaseIDs {
		return d
	}
	_, width := columnsOf(r)
	order := make([]int, width)
	for c := range order {
		order[c] = c
	}
	if names := r.Set.Columns; names != nil {
		names = append(slices.Clone(names), r.Label)
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(names[a], names[b]) })
	}
	d.order, d.rank = order, make([]uint32, width)
	for rank, c := range order {
		d.rank[c] = uint32(rank)
	}
	return d
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
	if d.Kind != method.ReleaseIDs {
		out.Content = d.sum("values", d.values(i))
	}
	if d.Kind == method.ReleaseSums && d.Set.Groups != nil {
		out.Group = d.sum("group", []byte(d.Set.Groups[i]))
	}
	if d.Kind == method.ReleaseIDs || d.Set.Labels == nil || d.Label == "" {
		return out
	}
	class := d.sum("class", []byte(d.class(d.Set.Labels[i])))
	if labelled(d.Release) { // numbers, too: if there are two values, they reveal as much as classes
		out.Class = binary.LittleEndian.Uint16(class[:]) | 1
	} else {
		out.Label = [8]byte(class[:])
		out.Label[0] |= 1 // not zero
	}
	return out
}

// class returns a label; a number in one spelling.
func (d *digest) class(label string) string {
	if v, err := strconv.ParseFloat(label, 64); err == nil && !d.Classes {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return label
}

// values encodes the cells that are not zero, by the rank of their names. The order of columns, and
// whether they are dense or sparse, does not change the encoding.
func (d *digest) values(i int) []byte {
	if typed, is := d.Set.X.(celled); is {
		return d.typed(typed, i)
	}
	d.cells, d.buf = d.cells[:0], d.buf[:0]
	d.Set.X.Each(i, func(c int, v float64) {
		if v != 0 {
			d.cells = append(d.cells, cell{d.rank[c], math.Float64bits(v)})
		}
	})
	var text string
	if labelled(d.Release) {
		text = d.Set.Labels[i]
		// A numeric label is encoded like a numeric column.
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

// celled is a table of cells in the form in which they were read, before they become numbers.
type celled interface {
	// AppendCell appends an unambiguous form of a cell.
	AppendCell(b []byte, row, col int) []byte
}

// typed encodes all cells of a row by the rank of their names, and then the label.
func (d *digest) typed(x celled, i int) []byte {
	d.buf = d.buf[:0]
	for _, c := range d.order {
		if c < d.Set.X.Cols() {
			d.buf = x.AppendCell(d.buf, i, c)
		}
	}
	if labelled(d.Release) {
		d.buf = append(d.buf, d.Set.Labels[i]...)
	}
	return d.buf
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

// people sorts rows by person and merges all rows of the same person into one. It returns the classes
// that such people have besides their first.
func people(rows []Row) (out []Row, more []Member) {
	slices.SortFunc(rows, compareRows)
	out = rows[:0]
	for first := 0; first < len(rows); {
		end := first + 1
		for end < len(rows) && rows[end].Person == rows[first].Person {
			end++
		}
		one := rows[first]
		if end-first > 1 {
			h, labels := sha256.New(), sha256.New()
			for _, r := range rows[first:end] {
				h.Write(r.Content[:])
				labels.Write(r.Content[:])
				labels.Write(r.Label[:])
				if r.Class != one.Class {
					more = append(more, Member{r.Person, r.Class})
				}
			}
			copy(one.Content[:], h.Sum(nil))
			if one.Label != ([8]byte{}) {
				copy(one.Label[:], labels.Sum(nil))
				one.Label[0] |= 1
			}
		}
		out, first = append(out, one), end
	}
	slices.SortFunc(more, compareMembers)
	return out, slices.Compact(more)
}
