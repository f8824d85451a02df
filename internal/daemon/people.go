package daemon

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"iter"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// peopleRule returns in words the rule that identifies the people of a table.
func (s Source) peopleRule() string {
	if s.Group != "" {
		return fmt.Sprintf("group %q", s.Group)
	}
	return fmt.Sprintf("ids of %q, normalized by %q", s.ID.Columns, s.ID.Normalize)
}

// normalizedNames converts names of people to the form that identifies people in the table.
// The result is sorted, without duplicates.
func (s Source) normalizedNames(table string, people []string) ([]string, error) {
	if s.ID.IsZero() && s.Group == "" {
		return nil, fmt.Errorf("the catalogue's entry of %s has neither \"id\" nor \"group\" to identify people; remove their rows from the table, and freeze the table", table)
	}
	if s.Group != "" {
		return slices.Compact(slices.Sorted(slices.Values(people))), nil
	}
	var names []string
	for _, text := range people {
		cells := strings.Split(text, ",")
		if len(s.ID.Columns) == 1 {
			cells = []string{text}
		}
		name, err := s.ID.Of(cells)
		if err != nil {
			return nil, fmt.Errorf("%s is not an id of %s (%w); give the cells of %s, separated by commas", dataset.Quote(text), table, err, strings.Join(s.ID.Columns, ", "))
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// personOfEachRow calls use, for each row of a snapshot, with the name of the person to whom it
// belongs.
func (s Source) personOfEachRow(table string, rows snapshot.Store, use func(name string)) error {
	from, err := snapshot.Read(rows)
	if err != nil {
		return err
	}
	err = prepare.Table{Name: table, Answer: s.SQL != nil, Mapping: s.mapping(), ID: s.ID.IDRule, Group: s.Group}.People(from, use)
	return errors.Join(err, from.Close())
}

// identificationDigest returns a digest of the rule that identifies the people of a table.
func (s Source) identificationDigest(key dataset.SplitKey) string {
	return hexOf(digest(key, []byte(s.peopleRule())))
}

// mappingDigest returns a digest of the entry's settings that determine how its table is read.
func (s Source) mappingDigest() (string, error) {
	b, err := json.Marshal(struct {
		prepare.Mapping
		Labelled []string `json:",omitempty"` // left out if it is empty, so that the digest is that of earlier versions
	}{s.mapping(), slices.Sorted(slices.Values(s.Label.Needed))})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16]), nil
}

// knownBy returns the name of each row's person, which is the row's group if the table has groups,
// and the row's id otherwise. It returns nil if the table has neither.
func knownBy(set *dataset.Set) []string {
	if set.Groups != nil {
		return set.Groups
	}
	return set.IDs
}

// cutAndCells returns two lists of people, in ascending order: whether each person is held out, and the digest of each
// person's cells.
func cutAndCells(people iter.Seq[person]) (edition.Cut, edition.Cells) {
	cut, cells := make(map[edition.Element]edition.Part), make(map[edition.Element]edition.Element)
	for p := range people {
		cut[p.id], cells[p.id] = edition.Part{Held: p.held}, p.cells
	}
	return edition.Ascending(cut), edition.Ascending(cells)
}

// person holds digests of one person of an edition.
type person struct {
	id, cells edition.Element
	rows      int
	held      bool
}

// peopleIn returns the people of a table by their names. A name is a group, or else an id.
func peopleIn(key dataset.SplitKey, set *dataset.Set, labels [][]string, held []int) map[string]person {
	digests := newDigester(key)
	out, rows := marked(set.X.Rows(), held), digests.cells(set.X.(*prepare.Frame), labels)
	of := make(map[string][]int)
	for i, name := range knownBy(set) {
		of[name] = append(of[name], i)
	}
	people := make(map[string]person, len(of))
	for name, places := range of {
		own := make([]edition.Element, len(places))
		for k, i := range places {
			own[k] = rows[i]
		}
		p := person{id: digests.of([]byte(name)), rows: len(places), held: out[places[0]]}
		p.cells = digests.ofRows(p.id, own)
		people[name] = p
	}
	return people
}

// allPeople returns the people to whom the rows belong, in ascending order. The list owners has the
// person of each row. Each person has digests of the cells in each column, of each label, and of all
// cells and labels together. merged holds the texts of each label column, merged as the dictionary merges them.
func allPeople(key dataset.SplitKey, set *dataset.Set, owners []edition.Element, merged [][]string, held []int) []edition.Person {
	out := marked(set.X.Rows(), held)
	rows := make(map[edition.Element][]int)
	for i, e := range owners {
		rows[e] = append(rows[e], i)
	}
	values, frame := newValueDigests(key), set.X.(*prepare.Frame)
	whole := newDigester(key).cells(frame, merged)
	list := make([]edition.Person, 0, len(rows))
	for e, places := range rows {
		own := make([]uint64, len(places))
		for k, i := range places {
			own[k] = shortDigest(whole[i])
		}
		list = append(list, edition.Person{
			ID: e, Held: out[places[0]], Several: len(places) > 1, Whole: values.combine(own),
			Columns: values.columnDigests(frame, places), Labels: values.labels(merged, places),
		})
	}
	slices.SortFunc(list, func(a, b edition.Person) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return list
}

// valueDigests computes the digests of cells and labels. It computes the digest of each of the first mostValues
// values only once.
type valueDigests struct {
	digests *digester
	known   map[string]uint64
	buf     []byte
}

func newValueDigests(key dataset.SplitKey) *valueDigests {
	return &valueDigests{digests: newDigester(key), known: make(map[string]uint64)}
}

// mostValues is the largest number of values whose digests are kept in memory.
const mostValues = 1 << 16

func (d *valueDigests) of(b []byte) uint64 {
	if v, known := d.known[string(b)]; known {
		return v
	}
	v := shortDigest(d.digests.of([]byte("value/"), b))
	if len(d.known) < mostValues {
		d.known[string(b)] = v
	}
	return v
}

// shortDigest returns the first 8 bytes of a digest. They are enough to compare values.
func shortDigest(e edition.Element) uint64 { return binary.LittleEndian.Uint64(e[:]) }

// ofCell returns the digest of a cell.
func (d *valueDigests) ofCell(f *prepare.Frame, row, column int) uint64 {
	d.buf = f.AppendCell(d.buf[:0], row, column)
	return d.of(d.buf)
}

// ofLabel returns the digest of a label.
func (d *valueDigests) ofLabel(text string) uint64 {
	d.buf = append(append(d.buf[:0], "label/"...), text...)
	return d.of(d.buf)
}

// columnDigests returns, for each column, a digest of the cells in a person's rows. The order of
// the rows does not matter.
func (d *valueDigests) columnDigests(f *prepare.Frame, places []int) []uint64 {
	list := make([]uint64, f.Cols())
	cells := make([]uint64, len(places))
	for c := range list {
		for k, i := range places {
			cells[k] = d.ofCell(f, i, c)
		}
		list[c] = d.combine(cells)
	}
	return list
}

// combine returns one digest of several digests. Their order does not matter. A single digest stays
// unchanged.
func (d *valueDigests) combine(list []uint64) uint64 {
	if len(list) == 1 {
		return list[0]
	}
	slices.Sort(list)
	d.buf = append(d.buf[:0], "several/"...)
	for _, v := range list {
		d.buf = binary.LittleEndian.AppendUint64(d.buf, v)
	}
	return d.of(d.buf)
}

func (d *valueDigests) labels(merged [][]string, places []int) [][]uint64 {
	list := make([][]uint64, len(merged))
	for l, texts := range merged {
		for _, i := range places {
			list[l] = append(list[l], d.ofLabel(texts[i]))
		}
		slices.Sort(list[l])
		list[l] = slices.Compact(list[l])
	}
	return list
}

// digester computes digests under the home's key.
type digester struct {
	mac hash.Hash
	sum []byte
	buf []byte
}

func newDigester(key dataset.SplitKey) *digester {
	return &digester{mac: hmac.New(sha256.New, key[:])}
}

// of returns the digest of the parts of a byte string.
func (d *digester) of(parts ...[]byte) (e edition.Element) {
	d.mac.Reset()
	d.mac.Write([]byte("mercer/v1/edition/"))
	for _, b := range parts {
		d.mac.Write(b)
	}
	d.sum = d.mac.Sum(d.sum[:0])
	copy(e[:], d.sum)
	return e
}

// names returns the digests of names of people.
func (d *digester) names(list []string) []edition.Element {
	digests := make([]edition.Element, len(list))
	for i, name := range list {
		d.buf = append(d.buf[:0], name...)
		digests[i] = d.of(d.buf)
	}
	return digests
}

// cells returns a digest of each row's cells and labels.
func (d *digester) cells(f *prepare.Frame, labels [][]string) []edition.Element {
	rows := make([]edition.Element, f.Rows())
	for i := range rows {
		d.buf = d.buf[:0]
		for j := range f.Cols() {
			d.buf = f.AppendCell(d.buf, i, j)
		}
		for _, list := range labels {
			d.buf = append(binary.LittleEndian.AppendUint64(d.buf, uint64(len(list[i]))), list[i]...)
		}
		rows[i] = d.of(d.buf)
	}
	return rows
}

// ofRows returns a digest of a person's cells, from the digests of the person's rows in any order. It
// sorts them.
func (d *digester) ofRows(person edition.Element, rows []edition.Element) edition.Element {
	slices.SortFunc(rows, func(a, b edition.Element) int { return bytes.Compare(a[:], b[:]) })
	d.buf = append(d.buf[:0], person[:]...)
	for _, row := range rows {
		d.buf = append(d.buf, row[:]...)
	}
	return d.of(d.buf)
}

// digest returns the digest of a byte string under the home's key.
func digest(key dataset.SplitKey, b []byte) edition.Element { return newDigester(key).of(b) }

func hexOf(e edition.Element) string { return hex.EncodeToString(e[:]) }

func marked(n int, places []int) []bool {
	out := make([]bool, n)
	for _, i := range places {
		out[i] = true
	}
	return out
}
