package disclosure

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
)

// Entry is the ledger's record of one release.
type Entry struct {
	Kind          method.ReleaseKind
	Also          []method.ReleaseKind // kinds that the job releases besides this one, ascending
	Job           string
	Day           string // date of the latest disclosure, YYYY-MM-DD; "" if there was none, and in old formats
	Question      bool
	Peers         []string // names of the other parties, ascending
	Scale         string
	Label         string
	Weight        string                               // column of the weights that are released with the rows; "" for none
	Split         string                               // description of the held-out rows if the job chooses them; "" if the party's key does
	Table         string                               // the table's name in the catalogue; "" in entries of earlier programs
	Schema        string                               // digest of the job's schema, in hexadecimal digits; "" if the job has none
	Fit           Fit                                  // the fit that prepared encoded rows
	Columns       []string                             // names of the released columns, ascending; nil if the table has no names
	Width         int                                  // number of columns
	Uses          []Use                                // uses of the rows, in the order of their release
	Numbers       bool                                 // in sums: the labels are numbers to predict, not classes
	Edition       string                               // id of the edition whose rows are released; "" if the field Rows lists them
	Number        int                                  // number of the edition
	Out           string                               // description of the held-out rows of the edition; only in sums
	Study         string                               // hash of the study inside which the job lies; "" for none
	Clear         []string                             // ids of editions that together with this one reveal nothing about one to nine people
	Size          int                                  // number of rows of an edition
	Known         []string                             // in noise: digests of further names of the table, ascending
	Rho           float64                              // in noise: the cost in zero-concentrated differential privacy; else 0
	Epsilon       float64                              // in noise: the job's guarantee; 0 if nobody knows it
	Delta         float64                              // of the guarantee
	Rows          []Row                                // one row for each person, ascending; empty for an edition
	More          []Member                             // second and further classes of people with several classes, ascending by person
	editionPeople func(extsort.Store) (persons, error) // sorts the people of an edition; nil without an edition
	loadEdition   func() ([]Row, []Member, error)      // digests the rows of an edition; nil after the first call
}

// Member assigns a class to a person.
type Member struct {
	Person [16]byte
	Class  uint16
}

// Use records that one job released the rows.
type Use struct {
	Model      string
	Directions uint32
	Numbers    uint64 // how many numbers the sums or the model contain
	Cells      uint64 // how many cells the rows in them have; 0 if unknown
}

// share returns how many numbers the sums contain for each cell of their rows.
func (u Use) share() float64 {
	if u.Cells == 0 {
		return 0
	}
	return float64(u.Numbers) / float64(u.Cells)
}

// covers reports whether u and o are uses by the same job, and the share of u is at most the share
// of o. The share of a job's sums is the largest possible one until all parties have announced
// their rows, and again after a restart.
func (u Use) covers(o Use) bool {
	return u == o || u.Model == o.Model && u.Directions == o.Directions && u.Cells > 0 && u.share() <= o.share()
}

// Told returns the sum of the shares of all uses. A share is the count of numbers in sums,
// divided by the count of cells of their rows.
func (e *Entry) Told() (told float64) {
	for _, u := range e.Uses {
		told += u.share()
	}
	return told
}

// Fit identifies the fit that prepared the released rows.
type Fit struct {
	By     method.FitBy
	Among  string // digest of the party's rows on which the fit is made; "" if an earlier job made the fit
	Values string // digest of the fitted values; "" before they are known
	Told   string // digest of the id of the earlier job that made the fit; "" if the entry's job made the fit
}

// same reports whether two fits are certainly equal.
func (f Fit) same(o Fit) bool {
	if f.Values != "" && o.Values != "" {
		return f.Values == o.Values
	}
	return f == o || f.Told != "" && f.Told == o.Told
}

// size returns the number of people in the entry, or the number of rows of an edition.
func (e *Entry) size() int {
	if e.Edition != "" {
		return e.Size
	}
	return len(e.Rows)
}

// pending reports whether only the fit of the release is disclosed, and not yet the rows that it
// prepares.
func (e *Entry) pending() bool {
	return e.Fit.By == method.NewFit && e.Fit.Values == "" && e.Kind != method.ReleaseFit
}

// maxUses bounds the uses of an entry. Beyond it the oldest are removed.
const maxUses = 1 << 12

// ID returns a name of the released content in 16 hexadecimal digits. Jobs that release equal
// content share one ID. The same holds for questions.
func (e *Entry) ID() string {
	named := *e
	if e.Kind == method.ReleaseIDs || e.Kind == method.ReleaseRows {
		named.Question = false // a question that releases ids or encoded rows has the same content as a job
	}
	return named.digest()
}

// formerID returns the ID that earlier programs gave to a question's release. A job's release could
// have the same ID.
func (e *Entry) formerID() string {
	named := *e
	named.Question = false
	return named.digest()
}

// digest returns a hash of all released content, as 16 hexadecimal digits.
func (e *Entry) digest() string {
	named := *e
	named.Job, named.Table = "", "" // releases of equal content have one digest, whatever their job or table
	if e.Fit.By == method.NewFit || e.Fit.By == method.ToldFit {
		named.Fit.Values = "" // the fitted values are not yet known when the release is admitted
	}
	h := sha256.New()
	h.Write(named.text())
	if e.Numbers {
		h.Write([]byte("numbers"))
	}
	if e.Weight != "" {
		h.Write([]byte("weight " + e.Weight + "/"))
	}
	if e.Kind == method.ReleaseNoise {
		h.Write(e.payment())
	}
	if e.Edition != "" {
		h.Write([]byte("edition " + e.Edition + " without " + e.Out))
		return hex.EncodeToString(h.Sum(nil)[:8])
	}
	for i := range e.Rows {
		h.Write(e.Rows[i].Person[:])
		h.Write(e.Rows[i].Content[:])
		if label := e.Rows[i].Label; label != ([8]byte{}) {
			h.Write(label[:])
		}
		if e.Weight != "" {
			h.Write(e.Rows[i].Weight[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// sameSettings reports whether two releases of a kind have equal settings: columns, scale, label
// and peers, as far as the kind needs these.
func (e *Entry) sameSettings(o *Entry) bool {
	switch e.Kind {
	case method.ReleaseIDs:
		return slices.Equal(e.Peers, o.Peers)
	case method.ReleaseRows: // the peers are irrelevant, because each job encodes rows with its own secret
		return e.sameColumns(o) && e.Scale == o.Scale && e.Label == o.Label
	case method.ReleaseSums, method.ReleaseFit: // the scale is irrelevant: scaled or not, they reveal the same about people
		return e.sameColumns(o) && slices.Equal(e.Peers, o.Peers)
	case method.ReleaseModels: // the peers and the scale are irrelevant, because each model has its own features
		return e.sameColumns(o)
	}
	return slices.Equal(e.Peers, o.Peers) && e.sameColumns(o) && e.Scale == o.Scale
}

// addsWeights reports whether the release has weights that the earlier one lacks.
func (e *Entry) addsWeights(earlier *Entry) bool { return e.Weight != "" && e.Weight != earlier.Weight }

// fitted reports whether the release contains rows that a fit prepared. Releases of the same rows
// under two fits reveal more.
func (e *Entry) fitted() bool {
	return e.Kind == method.ReleaseRows || e.Kind == method.ReleaseProducts || e.Kind == method.ReleasePhases
}

func (e *Entry) sameColumns(o *Entry) bool {
	return e.Width == o.Width && slices.Equal(e.Columns, o.Columns)
}

// usedBy reports whether a job has released the rows of the entry.
func (e *Entry) usedBy(model string) bool {
	return slices.ContainsFunc(e.Uses, func(u Use) bool { return u.Model == model })
}

// compareRows orders rows by person, then by content and label.
func compareRows(a, b Row) int {
	if c := bytes.Compare(a.Person[:], b.Person[:]); c != 0 {
		return c
	}
	if c := bytes.Compare(a.Content[:], b.Content[:]); c != 0 {
		return c
	}
	if c := bytes.Compare(a.Label[:], b.Label[:]); c != 0 {
		return c
	}
	return bytes.Compare(a.Weight[:], b.Weight[:])
}

func compareMembers(a, b Member) int {
	if c := bytes.Compare(a.Person[:], b.Person[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.Class, b.Class)
}

// relabels reports whether two entries give a person different labels in the same label column.
func (e *Entry) relabels(now Row, earlier *Entry, then Row) bool {
	none := [8]byte{} // the digest of a row without a label, and of every row in old formats
	return e.Label == earlier.Label && now.Label != then.Label && now.Label != none && then.Label != none
}

// reweighs reports whether two entries give a person different weights in the same weight column.
func (e *Entry) reweighs(now Row, earlier *Entry, then Row) bool {
	return e.Weight != "" && e.Weight == earlier.Weight && now.Weight != then.Weight
}

// meet calls the function common for each person who is in both lists. It returns the number of
// people in oldRows who are not in rows. Both lists must be ascending by person.
func meet(rows, oldRows []Row, common func(i int, then Row)) (went int) {
	for i := range rows {
		for len(oldRows) > 0 && bytes.Compare(oldRows[0].Person[:], rows[i].Person[:]) < 0 {
			oldRows, went = oldRows[1:], went+1
		}
		if len(oldRows) > 0 && oldRows[0].Person == rows[i].Person {
			common(i, oldRows[0])
			oldRows = oldRows[1:]
		}
	}
	return went + len(oldRows)
}

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
		return fmt.Errorf("noise of the cost %g for epsilon %g at delta %g is no guarantee; the cost must be a number above 0", e.Rho, e.Epsilon, e.Delta)
	}
	for i := 1; i < len(e.Known); i++ {
		if e.Known[i] <= e.Known[i-1] {
			return errors.New("the further names of the table are not in ascending order, or one is repeated")
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
			r.Fail(errors.New("the entry's further classes are not in ascending order, or one is repeated"))
		}
	}
}

// readKinds reads the list of kinds that accompany a release.
func readKinds(r *wire.Reader) []method.ReleaseKind {
	also := kindsOf(r.Strings(maxAlso, 32))
	for i, k := range also {
		if !k.Beside() || i > 0 && k <= also[i-1] {
			r.Fail(fmt.Errorf("kind %q is out of order among the entry's accompanying kinds, or cannot accompany a release", string(k)))
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
