package disclosure

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
)

// These constants bound the sizes that decoding accepts.
const (
	maxText    = 4 << 10
	maxDigest  = 64
	maxAlso    = 16      // number of kinds that accompany a release
	maxName    = 1 << 30 // bytes of a column's name, because a table's header may hold anything
	maxPeers   = 1 << 13
	maxColumns = 1 << 24
	maxRows    = 1 << 28
	maxNumbers = 1 << 20 // number of editions in the field Clear
	maxKnown   = 16      // number of further names of a table
)

// These strings begin the formats of earlier programs, which DecodeEntry still reads. The ID of a
// release follows from the oldest format that has a field for all of its content.
const (
	entryMagic   = "mercer/v2/release"
	splitMagic   = "mercer/v3/release" // adds to v2 the held-out rows, if the job chose them
	tableMagic   = "mercer/v4/release" // adds to v3 the table's name, the schema and the fit
	alsoMagic    = "mercer/v5/release" // adds to v4 the kinds that accompany a release
	moreMagic    = "mercer/v6/release" // adds to v5 people of several classes; the accompanying kinds may be missing
	wholeMagic   = "mercer/v7/release" // adds to v6 the date of the latest disclosure
	editionMagic = "mercer/v8/release" // adds to v7 the edition
)

// These strings begin the formats that this program writes.
const (
	groupMagic  = "mercer/v9/release"  // adds to v8 the groups of ids
	weightMagic = "mercer/v10/release" // adds to v9 the column of the weights and their digests; written only for a release with weights
	studyMagic  = "mercer/v11/release" // adds to v10 the study; written only for a release of a study's job
	noiseMagic  = "mercer/v12/release" // adds to v11 the cost of noise, and further names of its table; written only for noise
)

// Encode returns the entry's canonical encoding in the newest format that it needs.
func (e *Entry) Encode() []byte {
	var w wire.Writer
	w.Grow(256 + 40*len(e.Rows))
	switch {
	case e.Kind == method.ReleaseNoise:
		w.String(noiseMagic)
		w.String(e.Study)
		w.Bytes32([]byte(e.Weight))
		e.writeNoise(&w)
	case e.Study != "":
		w.String(studyMagic)
		w.String(e.Study)
		w.Bytes32([]byte(e.Weight))
	case e.Weight != "":
		w.String(weightMagic)
		w.Bytes32([]byte(e.Weight))
	default:
		w.String(groupMagic)
	}
	w.String(e.Day)
	w.Strings(texts(e.Also))
	e.writeTable(&w)
	e.writeHead(&w)
	w.Uint32(uint32(len(e.Uses)))
	for _, u := range e.Uses {
		w.String(u.Model)
		w.Uint32(u.Directions)
		w.Uint64(u.Numbers)
		w.Uint64(u.Cells)
	}
	e.writeEdition(&w)
	if e.Edition != "" {
		return w.Bytes()
	}
	labelled := slices.ContainsFunc(e.Rows, func(r Row) bool { return r.Class != 0 || r.Label != [8]byte{} })
	w.Bool(labelled)
	w.Bool(e.grouped())
	w.Uint32(uint32(len(e.Rows)))
	for i := range e.Rows {
		w.Fixed(e.Rows[i].Person[:])
		w.Fixed(e.Rows[i].Content[:])
		switch {
		case !labelled:
		case e.Kind.Summed():
			w.Uint16(e.Rows[i].Class)
		default:
			w.Fixed(e.Rows[i].Label[:])
		}
		if e.grouped() {
			w.Fixed(e.Rows[i].Group[:])
		}
		if e.Weight != "" {
			w.Fixed(e.Rows[i].Weight[:])
		}
	}
	w.Uint32(uint32(len(e.More)))
	for _, m := range e.More {
		w.Fixed(m.Person[:])
		w.Uint16(m.Class)
	}
	return w.Bytes()
}

// grouped reports whether several ids of the entry may belong to one person.
func (e *Entry) grouped() bool { return len(e.Rows) > 0 && e.Rows[0].Group != [16]byte{} }

// writeEdition writes the fields that formats from v8 on have.
func (e *Entry) writeEdition(w *wire.Writer) {
	w.String(e.Edition)
	w.Uint32(uint32(e.Number))
	w.Uint32(uint32(e.Size))
	w.String(e.Out)
	w.Strings(e.Clear)
	w.Bool(e.Numbers)
}

// readEdition reads the fields that writeEdition has written.
func (e *Entry) readEdition(r *wire.Reader) {
	e.Edition, e.Number, e.Size = r.String(maxDigest), int(r.Uint32()), int(r.Uint32())
	e.Out = r.String(maxText)
	e.Clear, e.Numbers = r.Strings(maxNumbers, maxDigest), r.Bool()
}

// text encodes the entry without its rows, for the hash that becomes the ID. It uses the formats of
// older versions, so that IDs do not change.
func (e *Entry) text() []byte {
	var w wire.Writer
	switch {
	case e.Schema != "" || e.Fit != Fit{}:
		w.String(tableMagic)
		e.writeTable(&w)
	case e.Split != "":
		w.String(splitMagic)
		w.String(e.Split)
	default:
		w.String(entryMagic)
	}
	e.writeHead(&w)
	w.Uint32(0) // number of uses
	w.Uint32(0) // number of rows
	return w.Bytes()
}

// writeHead writes the fields that all formats have.
func (e *Entry) writeHead(w *wire.Writer) {
	w.String(string(e.Kind))
	w.String(e.Job)
	w.Bool(e.Question)
	w.Strings(e.Peers)
	w.String(e.Scale)
	w.Bytes32([]byte(e.Label))
	w.Uint32(uint32(e.Width))
	w.Uint32(uint32(len(e.Columns)))
	for _, name := range e.Columns {
		w.Bytes32([]byte(name))
	}
}

// writeTable writes the fields that formats from v4 on have.
func (e *Entry) writeTable(w *wire.Writer) {
	w.String(e.Split)
	w.Bytes32([]byte(e.Table))
	w.String(e.Schema)
	w.Uint8(uint8(e.Fit.By))
	w.String(e.Fit.Among)
	w.String(e.Fit.Values)
	w.String(e.Fit.Told)
}

// DecodeEntry decodes an entry that this or an earlier program has encoded.
func DecodeEntry(b []byte) (*Entry, error) {
	r := wire.NewReader(b)
	e := &Entry{}
	magic := r.String(32)
	groups := magic == groupMagic || magic == weightMagic || magic == studyMagic || magic == noiseMagic
	editions := magic == editionMagic || groups
	whole := magic == wholeMagic || editions
	e.readStudyAndWeight(r, magic)
	switch {
	case r.Err() != nil || magic == entryMagic:
	case magic == splitMagic:
		if e.Split = r.String(maxText); e.Split == "" && r.Err() == nil {
			r.Fail(errors.New("the entry does not describe the held-out rows that the job chose"))
		}
	case magic == tableMagic:
		e.readTable(r)
		if r.Err() == nil && e.Table == "" && e.Schema == "" && e.Fit == (Fit{}) {
			r.Fail(errors.New("the entry has no table name, schema or fit; this format requires at least one"))
		}
	case magic == alsoMagic:
		e.Also = readAlso(r)
		e.readTable(r)
	case magic == moreMagic:
		e.Also = readKinds(r)
		e.readTable(r)
	case whole:
		e.Day, e.Also = r.String(len(time.DateOnly)), readKinds(r)
		e.readTable(r)
	default:
		r.Fail(fmt.Errorf("the entry's format %q is unknown", magic))
	}
	e.Kind, e.Job, e.Question = method.ReleaseKind(r.String(32)), r.String(maxText), r.Bool()
	e.Peers = r.Strings(maxPeers, maxText)
	e.Scale, e.Label = r.String(32), string(r.Bytes32(maxName))
	e.Width = r.Count(maxColumns, 0)
	for range r.Count(maxColumns, 4) {
		e.Columns = append(e.Columns, string(r.Bytes32(maxName)))
	}
	e.readUses(r, editions)
	if r.Err() == nil && (e.Kind == method.ReleaseNoise) != (magic == noiseMagic) {
		r.Fail(errors.New("the entry's format and its kind disagree about noise"))
	}
	if magic == noiseMagic && len(e.Uses) != 1 && r.Err() == nil {
		r.Fail(fmt.Errorf("the entry of noise is for %d jobs; it must be for one", len(e.Uses)))
	}
	if editions {
		e.readEdition(r)
	}
	if e.Edition != "" {
		return e, r.Close("release")
	}
	labelled := (magic == tableMagic || magic == alsoMagic || magic == moreMagic) && e.Kind == method.ReleaseSums
	if whole {
		labelled = r.Bool()
	}
	e.readRows(r, labelled, groups && r.Bool())
	if magic == moreMagic || whole {
		e.readMore(r)
	}
	if magic == moreMagic && len(e.More) == 0 && r.Err() == nil {
		r.Fail(errors.New("the entry lists no further classes; this format requires at least one"))
	}
	return e, r.Close("release")
}

// readStudyAndWeight reads the study and the column of the weights, if the format begins with them.
func (e *Entry) readStudyAndWeight(r *wire.Reader, magic string) {
	switch magic {
	case noiseMagic:
		e.Study, e.Weight = r.String(maxDigest), string(r.Bytes32(maxName))
		e.readNoise(r)
	case studyMagic:
		if e.Study, e.Weight = r.String(maxDigest), string(r.Bytes32(maxName)); e.Study == "" && r.Err() == nil {
			r.Fail(errors.New("the entry names no study; this format requires one"))
		}
	case weightMagic:
		if e.Weight = string(r.Bytes32(maxName)); e.Weight == "" && r.Err() == nil {
			r.Fail(errors.New("the entry names no column of weights; this format requires one"))
		}
	}
}

// payment encodes what makes noise a release of its own: the job that draws it, and what it costs.
func (e *Entry) payment() []byte {
	var w wire.Writer
	w.String("noise")
	for _, u := range e.Uses {
		w.String(u.Model)
	}
	e.writeCost(&w)
	return w.Bytes()
}

func (e *Entry) writeNoise(w *wire.Writer) {
	w.Strings(e.Known)
	e.writeCost(w)
}

func (e *Entry) writeCost(w *wire.Writer) {
	for _, v := range [...]float64{e.Rho, e.Epsilon, e.Delta} {
		w.Float64(v)
	}
}

// readNoise reads the fields that writeNoise has written.
func (e *Entry) readNoise(r *wire.Reader) {
	e.Known = r.Strings(maxKnown, maxDigest)
	for _, to := range [...]*float64{&e.Rho, &e.Epsilon, &e.Delta} {
		*to = r.Float64()
	}
	if err := e.checkNoise(); err != nil && r.Err() == nil {
		r.Fail(err)
	}
}

// checkNoise returns an error for a cost that cannot be added up, and for names out of order.
func (e *Entry) checkNoise() error {
	if !(e.Rho > 0 && e.Rho <= math.MaxFloat64 && e.Epsilon >= 0 && e.Epsilon <= math.MaxFloat64 && e.Delta >= 0 && e.Delta < 1) {
		return fmt.Errorf("the entry's noise costs rho %g for epsilon %g at delta %g; rho must be a finite number above 0, epsilon one from 0, and delta one from 0 and below 1", e.Rho, e.Epsilon, e.Delta)
	}
	for i := 1; i < len(e.Known); i++ {
		if e.Known[i] <= e.Known[i-1] {
			return errors.New("the further names of the table do not ascend strictly")
		}
	}
	return nil
}

// readUses reads the uses by jobs, with numbers and cells if the format has them.
func (e *Entry) readUses(r *wire.Reader, counted bool) {
	for range r.Count(maxUses, 6) {
		u := Use{Model: r.String(maxText), Directions: r.Uint32()}
		if counted {
			u.Numbers, u.Cells = r.Uint64(), r.Uint64()
		}
		e.Uses = append(e.Uses, u)
	}
}

// readRows reads the people's rows, with the digests of their labels and groups if the format has
// them.
func (e *Entry) readRows(r *wire.Reader, labelled, grouped bool) {
	e.Rows = make([]Row, r.Count(maxRows, 32))
	for i := range e.Rows {
		r.Fixed(e.Rows[i].Person[:])
		r.Fixed(e.Rows[i].Content[:])
		switch {
		case !labelled:
		case e.Kind.Summed():
			e.Rows[i].Class = r.Uint16()
		default:
			r.Fixed(e.Rows[i].Label[:])
		}
		if grouped {
			r.Fixed(e.Rows[i].Group[:])
		}
		if e.Weight != "" {
			r.Fixed(e.Rows[i].Weight[:])
		}
	}
	if r.Err() == nil && !slices.IsSortedFunc(e.Rows, compareRows) {
		r.Fail(errors.New("the entry's rows are not in ascending order"))
	}
	if r.Err() == nil && grouped != e.grouped() {
		r.Fail(errors.New("the entry's flag for groups does not match its rows"))
	}
}

// readMore reads the further classes of people with several rows.
func (e *Entry) readMore(r *wire.Reader) {
	n := r.Count(maxRows, 18)
	if n == 0 {
		return
	}
	e.More = make([]Member, n)
	for i := range e.More {
		r.Fixed(e.More[i].Person[:])
		e.More[i].Class = r.Uint16()
		if i > 0 && compareMembers(e.More[i-1], e.More[i]) >= 0 {
			r.Fail(errors.New("the entry's further classes do not ascend strictly"))
		}
	}
}

// readKinds reads the list of kinds that accompany a release.
func readKinds(r *wire.Reader) []method.ReleaseKind {
	also := kindsOf(r.Strings(maxAlso, 32))
	for i, k := range also {
		if !k.Beside() {
			r.Fail(fmt.Errorf("a release of kind %q cannot accompany another release, but the entry lists it as one that does", string(k)))
		}
		if i > 0 && k <= also[i-1] {
			r.Fail(fmt.Errorf("the accompanying kinds do not ascend strictly at kind %q", string(k)))
		}
	}
	return also
}

// readAlso reads the list of kinds that accompany a release, in a format that requires at least
// one.
func readAlso(r *wire.Reader) []method.ReleaseKind {
	also := readKinds(r)
	if len(also) == 0 && r.Err() == nil {
		r.Fail(errors.New("the entry lists no accompanying kinds; this format requires at least one"))
	}
	return also
}

func texts(kinds []method.ReleaseKind) []string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return list
}

func kindsOf(list []string) []method.ReleaseKind {
	kinds := make([]method.ReleaseKind, len(list))
	for i, s := range list {
		kinds[i] = method.ReleaseKind(s)
	}
	return kinds
}

// readTable reads the fields that writeTable has written.
func (e *Entry) readTable(r *wire.Reader) {
	e.Split, e.Table, e.Schema = r.String(maxText), string(r.Bytes32(maxName)), r.String(maxDigest)
	e.Fit = Fit{method.FitBy(r.Uint8()), r.String(maxDigest), r.String(maxDigest), r.String(maxDigest)}
	if r.Err() == nil && e.Fit.By > method.ToldFit {
		r.Fail(fmt.Errorf("the entry's fit has unknown kind %d", e.Fit.By))
	}
}
