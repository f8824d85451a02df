package columns

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// Declaration holds facts about a party's data. The party sends them to all other members.
type Declaration struct {
	Rows      int
	alignment [sha256.Size]byte // a commitment to the rows and their order, under the parties' key
	Columns   gram.Holder
	Labels    int     // the number of bytes of the labels that the coordinator receives; 0 if it receives none
	Unit      float64 // the unit in which gamma is given, measured over the party's columns; 0 if gamma has no unit
}

// maxLabelsBytes is the largest number of bytes that the encoded labels of a job may have.
const maxLabelsBytes = 1 << 28

func (d Declaration) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(d.Rows))
	w.Fixed(d.alignment[:])
	w.Uint32(uint32(d.Columns.Columns))
	w.Uint8(uint8(d.Columns.Exponent))
	w.Bool(d.Columns.Whole)
	w.Uint32(uint32(d.Labels))
	w.Float64(d.Unit)
	return w.Bytes()
}

func decodeDeclaration(b []byte) (Declaration, error) {
	r := wire.NewReader(b)
	d := Declaration{Rows: int(r.Uint32())}
	r.Fixed(d.alignment[:])
	d.Columns = gram.Holder{Columns: int(r.Uint32()), Exponent: int(r.Uint8()), Whole: r.Bool()}
	d.Labels, d.Unit = int(r.Uint32()), r.Float64()
	if r.Err() == nil && (!(d.Unit >= 0) || math.IsInf(d.Unit, 1)) {
		r.Fail(fmt.Errorf("the unit of gamma is %v; it must be finite and at least 0", d.Unit))
	}
	if r.Err() == nil && (d.Rows > psi.MaxIDs || d.Columns.Columns < 1 || d.Columns.Columns > gram.MaxColumns || d.Columns.Exponent > gram.MaxExponent || d.Labels > maxLabelsBytes) {
		r.Fail(fmt.Errorf("a declared size is outside its limits: %d rows, %d columns, values up to 2^%d, %d bytes of labels", d.Rows, d.Columns.Columns, d.Columns.Exponent, d.Labels))
	}
	return d, r.Close("columns: declaration")
}

// Declared holds the declarations of all parties with columns, after the parties have exchanged
// them. They are the public values of a job's steps.
type Declared struct {
	List   []Declaration // the declarations in the order of the parties; nil before the exchange
	Digest [sha256.Size]byte
}

// errUndeclared is returned if a caller needs the declarations before the parties have exchanged
// them.
var errUndeclared = errors.New("columns: the parties have not yet declared their columns")

// Rows returns the number of common rows, or an error if the parties have not yet declared this
// number.
func (d Declared) Rows() (int, error) {
	if len(d.List) == 0 {
		return 0, errUndeclared
	}
	return d.List[0].Rows, nil
}

// readDeclared decodes the parties' declarations. It returns an error if the parties do not hold the same rows
// in the same order.
func readDeclared(parties []string, statements [][]byte) (Declared, error) {
	var d Declared
	digest, err := sums.Statements(parties, statements, func(b []byte) error {
		one, err := decodeDeclaration(b)
		d.List = append(d.List, one)
		return err
	})
	if err != nil {
		return Declared{}, err
	}
	d.Digest = digest
	return d, d.checkAligned(parties)
}

// errOrder reports that parties do not hold the same rows in the same order.
var errOrder = errors.New("the parties do not hold the same rows in the same order; the job ends before it computes anything from the rows")

// checkAligned checks that all parties hold the same rows in the same order. It blames a party
// whose rows differ from the equal rows of more than half of all parties.
func (d Declared) checkAligned(parties []string) error {
	count := make(map[[sha256.Size]byte]int)
	for _, one := range d.List {
		count[one.orderDigest()]++
	}
	if len(count) == 1 {
		return nil
	}
	for i, one := range d.List {
		for _, other := range d.List {
			if n := count[other.orderDigest()]; 2*n > len(d.List) && other.orderDigest() != one.orderDigest() {
				return protocol.Blame(parties[i], protocol.KindInconsistent, fmt.Errorf("columns: the party's rows, or their order, differ from the rows of %d of %d parties; the job ends before it computes anything from the rows", n, len(d.List)))
			}
		}
	}
	return fault.BadInputf("columns: %w", errOrder)
}

// orderDigest returns a digest of the declared number of rows and of the commitment to the rows'
// order.
func (d Declaration) orderDigest() [sha256.Size]byte {
	var w wire.Writer
	w.Uint32(uint32(d.Rows))
	w.Fixed(d.alignment[:])
	return sha256.Sum256(w.Bytes())
}

// decodeUsable stores the parties' decoded declarations in d. It refuses declarations that the
// method cannot use.
func (d *Declared) decodeUsable(parties []string, statements [][]byte, usable func(Declared) error) error {
	heard, err := readDeclared(parties, statements)
	*d = heard
	if err != nil {
		return err
	}
	return usable(heard)
}

// KeptScores is the sentence of a leakage statement that says where the scores of held-out rows
// stay.
const KeptScores = "The scores of held-out rows, with ids, figures and curves, stay with the party that has their labels, until it forgets the job."

// Leakage adds to a job's leakage statement what each role learns from the alignment of the given
// number of common rows. With open predictions it also adds what each role learns from the
// alignment of queried rows.
func Leakage(lines map[string][]string, j *job.Job, rows int) {
	for role, more := range alignmentLeakage(j, len(j.Parties()), rows) {
		lines[role] = append(lines[role], more...)
	}
	if j.Prediction == job.Open {
		lines["party"] = append(lines["party"],
			"Predictions are open: the parties align the rows of every query, so each party learns how many rows a query has and which of its own rows are among them.",
		)
	}
}

func alignmentLeakage(j *job.Job, parties, rows int) map[string][]string {
	if of := j.Data.Partition; of.AlignedBy != (job.ID{}) {
		return map[string][]string{
			"server": {fmt.Sprintf("Nobody compares ids: the parties use alignment %s of an earlier job. The server knows that its %d rows are that job's, in that order, and that the same ones are held out.", of.Alignment, rows)},
			"party":  {fmt.Sprintf("Every party uses alignment %s of an earlier job, and learns no further id.", of.Alignment)},
		}
	}
	if !j.Data.Partition.Aligned {
		return psi.Leakage(psi.Facts{Parties: parties, Common: rows, MaxIDs: j.Protocol.Limit("max_ids")})
	}
	server := "The two parties compare their tables with each other; the server takes no part in this."
	if parties > 2 {
		server = "The server learns which parties have the same ids in the same order, but no id."
	}
	return map[string][]string{
		"server": {server},
		"party":  {fmt.Sprintf("Every party knows that all others have its %d ids, in its order: the job says so, and the parties have checked it. A party that brings another list learns only whether all others have that one.", rows)},
		"broker": {"The broker sees who sends to whom, when and how much. This reveals nothing about ids."},
	}
}

// Undownloadable returns text that explains why no single file holds a model whose columns belong
// to several parties.
func Undownloadable(j *job.Job) string {
	return fmt.Sprintf("lies in parts with its parties (protocol %s), and no file predicts without them", j.Protocol.Name())
}
