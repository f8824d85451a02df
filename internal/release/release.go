package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/wire"
)

// Kind says what of the data a session lets out.
type Kind string

// The kinds. Releases of two kinds are not compared.
const (
	Products Kind = "products" // of rows over the columns: Gram matrices
	IDs      Kind = "ids"      // which are common to all parties
	Phases   Kind = "phases"   // of rows over the columns, in a sum: distances
)

// Release is what a party lets out in one session.
type Release struct {
	Kind    Kind
	Job     string // its name, for the operator to know it by; the ID does not depend on it
	Peers   []string
	Scale   string
	Columns []Column
	Rows    []Row // ascending
	// Model names the model that the rows were for, or are predicted by, where a job
	// leaves predictions open: more rows of one model are the same release. "" else.
	Model string
}

// Column is one of the party's columns: Content is the SHA-256 of its values in
// the order of Rows.
type Column struct {
	Name    string
	Content [sha256.Size]byte
}

// Row stands for an id.
type Row [16]byte

// New describes the release of a table that has ids to the named peers; of kind
// IDs nothing but the ids.
func New(kind Kind, job string, peers []string, scale string, set *dataset.Set) Release {
	r := Release{Kind: kind, Job: job, Peers: slices.Sorted(slices.Values(peers))}
	order := make([]int, len(set.IDs))
	rows := make([]Row, len(set.IDs))
	for i, id := range set.IDs {
		sum := sha256.Sum256([]byte("mercer/v1/row/" + id))
		order[i], rows[i] = i, Row(sum[:])
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(rows[a][:], rows[b][:]) })
	for _, i := range order {
		r.Rows = append(r.Rows, rows[i])
	}
	if kind != IDs {
		r.Scale, r.Columns = scale, columnsOf(set, order)
	}
	return r
}

// columnsOf digests each column's values over the rows in an order.
func columnsOf(set *dataset.Set, order []int) []Column {
	const numbers = 1 << 14 // that wait until they are digested
	row, digests := make([]float64, set.X.Cols()), make([]digest, set.X.Cols())
	for c := range digests {
		digests[c] = digest{hash: sha256.New(), room: max(1, numbers/len(digests))}
	}
	for _, i := range order {
		for c, v := range set.X.Row(i, row) {
			digests[c].add(v)
		}
	}
	columns := make([]Column, len(digests))
	for c := range digests {
		columns[c] = Column{Name: fmt.Sprintf("%d (from 0)", c), Content: digests[c].sum()}
		if set.Columns != nil {
			columns[c].Name = set.Columns[c]
		}
	}
	slices.SortFunc(columns, func(a, b Column) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	return columns
}

// digest is of numbers that come one by one.
type digest struct {
	hash    hash.Hash
	waiting []byte
	room    int // numbers that may wait
}

func (d *digest) add(v float64) {
	d.waiting = binary.LittleEndian.AppendUint64(d.waiting, math.Float64bits(v))
	if len(d.waiting) == 8*d.room {
		d.hash.Write(d.waiting)
		d.waiting = d.waiting[:0]
	}
}

func (d *digest) sum() [sha256.Size]byte {
	d.hash.Write(d.waiting)
	return [sha256.Size]byte(d.hash.Sum(nil))
}

// ID names what is let out, in 16 hexadecimal digits.
func (r Release) ID() string {
	r.Job = ""
	sum := sha256.Sum256(r.Encode())
	return hex.EncodeToString(sum[:8])
}

// Bounds on what is read back.
const (
	maxText    = 4 << 10
	maxName    = 1 << 30 // of a column: a table's header may hold anything
	maxPeers   = 1 << 11
	maxColumns = 1 << 24
	maxRows    = 1 << 28
)

// Encode returns the canonical encoding.
func (r Release) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/release")
	w.String(string(r.Kind))
	w.String(r.Job)
	w.Uint32(uint32(len(r.Peers)))
	for _, name := range r.Peers {
		w.String(name)
	}
	w.String(r.Scale)
	w.Uint32(uint32(len(r.Columns)))
	for _, c := range r.Columns {
		w.Bytes32([]byte(c.Name))
		w.Fixed(c.Content[:])
	}
	w.Uint32(uint32(len(r.Rows)))
	for i := range r.Rows {
		w.Fixed(r.Rows[i][:])
	}
	if r.Model != "" {
		w.String(r.Model)
	}
	return w.Bytes()
}

// Decode reads what Encode wrote.
func Decode(b []byte) (Release, error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != "mercer/v1/release" {
		r.Fail(fmt.Errorf("not a release but %q", magic))
	}
	out := Release{Kind: Kind(r.String(32)), Job: r.String(maxText)}
	for range r.Count(maxPeers, 2) {
		out.Peers = append(out.Peers, r.String(maxText))
	}
	out.Scale = r.String(32)
	for range r.Count(maxColumns, 4+sha256.Size) {
		c := Column{Name: string(r.Bytes32(maxName))}
		r.Fixed(c.Content[:])
		out.Columns = append(out.Columns, c)
	}
	out.Rows = make([]Row, r.Count(maxRows, len(Row{})))
	for i := range out.Rows {
		r.Fixed(out.Rows[i][:])
	}
	if r.Err() == nil && r.Len() > 0 {
		out.Model = r.String(maxText)
	}
	return out, r.Close("release")
}
