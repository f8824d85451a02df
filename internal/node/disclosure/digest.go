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

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
)

// Row holds the digests of one person, known by an id or by the row's place, and of all the person's
// released values.
type Row struct {
	Person, Content [16]byte
	Class           uint16  // in sums and models with labels, two bytes of the label's digest; else 0
	Label           [8]byte // 8 bytes of the digest of the label that is released with the row; zero without a label
	Weight          [8]byte // 8 bytes of the digest of the weight that is released with the row; zero without a weight
	// Group is the digest of the row's person in sums and models, if one person can have several ids. It is
	// zero in other kinds, and if each id is a person.
	Group [16]byte
}

// personDigest returns the digest that identifies the person: the group if there is one, else
// Person.
func (r *Row) personDigest() [16]byte {
	if r.Group != ([16]byte{}) {
		return r.Group
	}
	return r.Person
}

// rowsOf returns the number of released rows, and a function that returns the index of the i-th
// released row in the set. The function is nil if the set is read in blocks.
func rowsOf(r method.Release) (n int, place func(int) int) {
	if r.Blocks != nil {
		return r.Count, nil
	}
	if r.Among != nil {
		return len(r.Among), func(i int) int { return r.Among[i] }
	}
	if r.Set.X == nil { // the release consists of ids only
		return len(r.Set.IDs), func(i int) int { return i }
	}
	return r.Set.X.Rows(), func(i int) int { return i }
}

// newEntry builds the entry of a release, with digests under the ledger's key.
func newEntry(key []byte, r method.Release) *Entry {
	e := &Entry{
		Kind: r.Kind, Also: r.Also, Job: r.Job, Question: r.Question, Study: r.Study,
		Peers: slices.Compact(slices.Sorted(slices.Values(r.Peers))),
	}
	if r.Kind != method.ReleaseIDs {
		e.Scale, e.Label, e.Weight, e.Split = r.Scale, r.Label, r.Weight, r.Split
		e.Columns, e.Width = columnsOf(r)
	}
	if r.Model != "" {
		e.Uses = []Use{{r.Model, uint32(r.Directions), uint64(r.Numbers), uint64(r.Cells)}}
	}
	n, place := rowsOf(r)
	d := newDigest(key, r)
	if r.Edition.ID == "" {
		e.Rows, e.More = d.digestRows(n, place)
	} else {
		e.Edition, e.Number, e.Size, e.Out = r.Edition.ID, r.Edition.Number, n, r.Edition.Out
		e.editionPeople = d.editionPeople
		e.loadEdition = func() ([]Row, []Member, error) { return d.digestReleased(n, place) }
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
	if e.Kind == method.ReleaseNoise {
		e.Rho, e.Epsilon, e.Delta = r.Rho, r.Epsilon, r.Delta
		for _, name := range r.Known {
			e.Known = append(e.Known, d.hex("name of a table", []byte(name)))
		}
		slices.Sort(e.Known)
		e.Known = slices.Compact(e.Known)
	}
	return e
}

// digestReleased digests all released rows of an edition. An edition that is not in memory is read in
// blocks; its digests take 66 bytes a row. The digests are needed only for comparisons with releases
// that list single rows, and for the bound on directions.
func (d *digest) digestReleased(n int, place func(int) int) ([]Row, []Member, error) {
	if d.Blocks == nil {
		rows, more := d.digestRows(n, place)
		return rows, more, nil
	}
	list := make([]Row, 0, n)
	err := d.eachBlock(func(before int, among []int) {
		for _, i := range among {
			list = append(list, d.digestRow(i, before))
		}
	})
	rows, more := mergePeople(list)
	return rows, more, err
}

// eachBlock calls use with the released rows of each block, and the number of rows before it. The
// block is the digest's set meanwhile.
func (d *digest) eachBlock(use func(before int, among []int)) error {
	head := d.Set
	defer func() { d.Set = head }()
	return d.Blocks(func(before int, block *dataset.Set, among []int) error {
		d.Set = block
		use(before, among)
		return nil
	})
}

// fit describes the release's fit by digests of its rows and of its values.
func (d *digest) fit() Fit {
	f := Fit{By: d.Fit.By}
	switch f.By {
	case method.KeptFit, method.ToldFit:
		f.Told = d.hex("fit of job", d.Fit.Earlier[:])
	case method.NewFit:
		all := []byte(d.Edition.ID)
		if d.Edition.ID == "" {
			rows, _ := d.digestRows(len(d.Fit.Among), func(i int) int { return d.Fit.Among[i] })
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

// digestRows digests n rows of the set and merges all rows of a person into one. It also returns
// the further classes of people with several rows.
func (d *digest) digestRows(n int, place func(int) int) ([]Row, []Member) {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = d.digestRow(place(i), 0)
	}
	return mergePeople(rows)
}

func (d *digest) hex(what string, b []byte) string {
	sum := d.sum(what, b)
	return hex.EncodeToString(sum[:])
}

// columnsOf returns the sorted names of the released columns and their number. It returns no names
// where the table has none. In sums and models the label counts as a column.
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

// labelled reports whether labels are part of each row's values. In releases of other kinds, the
// label is released beside the row.
func labelled(r method.Release) bool { return r.Kind.Summed() && r.Set.Labels != nil }

// digest computes the digests of a release's rows under the ledger's key.
type digest struct {
	method.Release
	mac   hash.Hash
	order []int    // indices of all columns, sorted by name; the label counts as the last column
	rank  []uint32 // rank of each column by name; the label counts as the last column
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

// digestRow returns the digests of the row at place i of the set. If the set is a block of a table,
// before is the number of the table's rows that precede it.
func (d *digest) digestRow(i, before int) Row {
	var out Row
	if d.Set.IDs != nil {
		out.Person = d.sum("id", []byte(d.Set.IDs[i]))
	} else {
		place := binary.LittleEndian.AppendUint64(nil, uint64(before+i))
		out.Person = d.sum("place", append(place, d.Table...))
	}
	if d.Kind != method.ReleaseIDs {
		out.Content = d.sum("values", d.encodeValues(i))
	}
	if d.Kind.Summed() && d.Set.Groups != nil {
		out.Group = d.sum("group", []byte(d.Set.Groups[i]))
	}
	if d.Kind == method.ReleaseRows && d.Weight != "" {
		weight := d.sum("weight", binary.LittleEndian.AppendUint64(nil, math.Float64bits(max(0, d.Set.Weights[i]))))
		out.Weight = [8]byte(weight[:])
		out.Weight[0] |= 1 // as for a label
	}
	if d.Kind == method.ReleaseIDs || d.Set.Labels == nil || d.Label == "" {
		return out
	}
	class := d.sum("class", []byte(d.canonicalLabel(d.Set.Labels[i])))
	if labelled(d.Release) { // also for labels that are numbers, because two numbers reveal as much as two classes
		out.Class = binary.LittleEndian.Uint16(class[:]) | 1
	} else {
		out.Label = [8]byte(class[:])
		out.Label[0] |= 1 // a digest of zero would mean that the row has no label
	}
	return out
}

// canonicalLabel returns a label in its canonical spelling, so that equal numbers are equal.
func (d *digest) canonicalLabel(label string) string {
	if v, err := strconv.ParseFloat(label, 64); err == nil && !d.Classes {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return label
}

// encodeValues encodes the nonzero cells of row i, sorted by column name. The order of columns, and
// whether they are dense or sparse, does not change the encoding.
func (d *digest) encodeValues(i int) []byte {
	if typed, is := d.Set.X.(celled); is {
		return d.encodeTyped(typed, i)
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
		// Encode a numeric label like a cell of a numeric column.
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

// celled is a table that still has the original form of its cells.
type celled interface {
	// AppendCell appends an unambiguous encoding of a cell.
	AppendCell(b []byte, row, col int) []byte
}

// encodeTyped encodes row i: all cells, sorted by column name, and then the label.
func (d *digest) encodeTyped(x celled, i int) []byte {
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

// mergePeople sorts rows by person and merges all rows of the same person into one. It also returns
// the further classes of people whose rows have several.
func mergePeople(rows []Row) (out []Row, more []Member) {
	slices.SortFunc(rows, compareRows)
	out = rows[:0]
	for first := 0; first < len(rows); {
		end := first + 1
		for end < len(rows) && rows[end].Person == rows[first].Person {
			end++
		}
		one := rows[first]
		if end-first > 1 {
			h, labels, weights := sha256.New(), sha256.New(), sha256.New()
			for _, r := range rows[first:end] {
				h.Write(r.Content[:])
				labels.Write(r.Content[:])
				labels.Write(r.Label[:])
				weights.Write(r.Content[:])
				weights.Write(r.Weight[:])
				if r.Class != one.Class {
					more = append(more, Member{r.Person, r.Class})
				}
			}
			copy(one.Content[:], h.Sum(nil))
			if one.Label != ([8]byte{}) {
				copy(one.Label[:], labels.Sum(nil))
				one.Label[0] |= 1
			}
			if one.Weight != ([8]byte{}) {
				copy(one.Weight[:], weights.Sum(nil))
				one.Weight[0] |= 1
			}
		}
		out, first = append(out, one), end
	}
	slices.SortFunc(more, compareMembers)
	return out, slices.Compact(more)
}
