package disclosure

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/extsort"
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
	Split         string                               // in sums: description of the held-out rows if the job chooses them; else ""
	Table         string                               // the table's name in the catalogue; "" in entries of earlier programs
	Schema        string                               // digest of the job's schema, in hexadecimal digits; "" if the job has none
	Fit           Fit                                  // the fit that prepared the released rows, or the released fit
	Columns       []string                             // names of the released columns, ascending; nil if the table has no names
	Width         int                                  // number of columns
	Uses          []Use                                // uses of the rows, in the order of their release
	Numbers       bool                                 // in sums and models: the labels are numbers, not classes
	Edition       string                               // id of the edition whose rows are released; "" if the field Rows lists them
	Number        int                                  // number of the edition
	Out           string                               // rows held out of the edition, if they matter for the kind; else ""
	Study         string                               // hash of the study inside which the job lies; "" for none
	Clear         []string                             // ids of editions that together with this one reveal nothing about one to nine people
	Size          int                                  // number of rows of an edition
	Known         []string                             // in noise: digests of further names of the table, ascending
	Rho           float64                              // in noise: the cost in zero-concentrated differential privacy; else 0
	Epsilon       float64                              // in noise: epsilon of the job's guarantee; 0 if nobody knows it
	Delta         float64                              // in noise: delta of the job's guarantee
	Rows          []Row                                // one row for each id or place, ascending; empty for an edition
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

// ID returns a name of the released content in 16 hexadecimal digits. Jobs that release equal content
// share one ID, and so do questions. But each job's noise has an ID of its own.
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
	named.Job, named.Table = "", "" // releases of equal content have one digest, whatever their job (except for noise) or table
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

// compareRows orders rows by person, then by content, label and weight.
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
