package rows

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
)

// statement describes a party's preparation to all other parties and the coordinator. The digest is
// under a key of the parties. Without a key the coordinator could guess agreed words and medians
// and test the guesses.
type statement struct {
	columns int
	digest  [sha256.Size]byte
}

// stated returns a party's encoded statement about its preparation.
func stated(made *prepare.Preparation, hash [sha256.Size]byte, key [32]byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write([]byte("mercer/v1/preparation"))
	_, _ = mac.Write(hash[:])
	return statement{made.Width(), [sha256.Size]byte(mac.Sum(nil))}.encode()
}

func (s statement) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(s.columns))
	w.Fixed(s.digest[:])
	return w.Bytes()
}

func decodeStatement(b []byte) (statement, error) {
	r := wire.NewReader(b)
	s := statement{columns: int(r.Uint32())}
	r.Fixed(s.digest[:])
	if r.Err() == nil && (s.columns < 1 || s.columns > job.MaxFeatures) {
		r.Fail(fmt.Errorf("the party states %d prepared columns; 1 to %d are allowed", s.columns, job.MaxFeatures))
	}
	return s, r.Close("rows: statement about a preparation")
}

// Witness is the coordinator's state while the parties prepare their rows. It receives the parties'
// statements about their preparations.
type Witness struct {
	of    method.Instance
	heard *learner.Prepared
}

// WitnessOf returns a witness that has not yet received any statements.
func WitnessOf(c method.Instance) Witness { return Witness{of: c} }

// hear builds the machine with which the coordinator receives the parties' statements.
func (w *Witness) hear(setup method.Setup) (*method.Run, error) {
	var parties []string // the parties of this session, which can differ from the parties of the job
	for _, m := range setup.Session.Members {
		if m.Role != protocol.RoleServer {
			parties = append(parties, m.Name)
		}
	}
	return sums.Listener(setup, func(statements [][]byte) error { return w.storeStatement(parties, statements) })
}

// storeStatement stores the parties' common statement about the preparation. It returns an error if their
// statements differ.
func (w *Witness) storeStatement(parties []string, statements [][]byte) error {
	for i, b := range statements {
		s, err := decodeStatement(b)
		if err != nil {
			return protocol.Blame(parties[i], protocol.KindMalformed, err)
		}
		if !bytes.Equal(b, statements[0]) {
			return fault.BadInputf("rows: %s and %s state different preparations, so the job learns nothing from their rows; check that both run the same program", parties[0], parties[i])
		}
		w.heard = &learner.Prepared{Columns: s.columns, Digest: hex.EncodeToString(s.digest[:]), Keyed: true}
	}
	return nil
}

// Prepared returns the number of prepared columns and a digest of the preparation. It returns nil without a
// schema, and before the parties have stated the preparation that they fit. A preparation that is not
// fitted follows from the job.
func (w *Witness) Prepared() (*learner.Prepared, error) {
	data := &w.of.Job.Data
	if w.heard != nil || !data.Prepares() || data.FitsSchema() {
		return w.heard, nil
	}
	plan, err := prepare.NewPlan(data.Schema, data.Fitted())
	if err != nil {
		return nil, err
	}
	made, err := plan.Fit(nil)
	if err != nil {
		return nil, err
	}
	hash := made.Hash()
	return &learner.Prepared{Columns: made.Width(), Digest: hex.EncodeToString(hash[:])}, nil
}

// preparationLeakage states what each role learns while the parties fit a preparation.
func preparationLeakage(c method.Instance) map[string][]string {
	plan, err := prepare.NewPlan(c.Job.Data.Schema, c.Job.Data.Fitted())
	if err != nil { // a job with an invalid schema runs no step
		return nil
	}
	lines := schemaLeakage()
	if words := c.Job.Data.Schema.Agreed(); len(words) > 0 {
		wordsLeakage(c, words, lines)
	}
	if told := plan.Told(); len(told) > 0 {
		sumsLeakage(c, told, lines)
	}
	return lines
}

func wordsLeakage(c method.Instance, columns []string, lines map[string][]string) {
	list := strings.Join(columns, ", ")
	lines["leader"] = append(lines["leader"], fmt.Sprintf("The leader, %s, learns which words of %s each party has in at least %d of its training rows.", c.Parties[0], list, prepare.Least))
	told := fmt.Sprintf("Every party learns which words of %s at least one party has in at least %d training rows", list, prepare.Least)
	if len(c.Parties) == 2 {
		told += " and so, with two parties, which party has them"
	}
	lines["party"] = append(lines["party"], told+fmt.Sprintf(". A word that fewer than %d training rows of a party have is encoded there as other, or as that party's most common word, whichever party proposes it.", prepare.Least))
}

// unfitted is the sentence of a leakage statement about the settings with which the parties fit nothing.
const unfitted = "With scale: range, listed categories and fixed values for gaps nothing is fitted, and nobody learns these."

func sumsLeakage(c method.Instance, told []string, lines map[string][]string) {
	list, train := strings.Join(told, "; "), c.Job.Data.Training(c.Parties) // a party whose rows are all held out adds zeros
	switch {
	case len(train) == 1 && len(c.Parties) == 2:
		lines["party"] = append(lines["party"], fmt.Sprintf("Only %s trains, and the other party learns sums over its training rows: the number of rows; %s. %s", train[0], list, unfitted))
		return
	case len(train) == 2:
		lines["party"] = append(lines["party"], fmt.Sprintf("Two parties train. Every party learns sums over the training rows of both, and each of the two learns the other's by subtracting its own: the number of rows; %s. %s", list, unfitted))
		return
	}
	lines["party"] = append(lines["party"], fmt.Sprintf("Every party learns sums over all parties' training rows: the number of rows; %s. Secure aggregation adds them up, with the leader, %s, as its server: nobody sees one party's numbers.", list, c.Parties[0]))
	lines["coalition"] = append(lines["coalition"], "All parties but one together learn the remaining party's sums.")
}

// schemaLeakage describes what the server learns about a table with a schema.
func schemaLeakage() map[string][]string {
	return map[string][]string{"server": {
		"The server reads the schema in the job: names of columns, listed categories, ranges and units. It takes no part in fitting the preparation.",
	}}
}

// KeptLeakage extends the leakage statement of a job that continues an earlier job. The job reuses
// the fit of the earlier job.
func KeptLeakage(c method.Instance, lines map[string][]string) {
	addMissing(lines, namesLeakage(c))
	if c.Job.Data.Prepares() {
		addMissing(lines, schemaLeakage())
	}
	if c.Job.Data.Fits() {
		addMissing(lines, map[string][]string{"party": {fmt.Sprintf("The parties fit nothing in this job and keep the values that the earlier job fitted: %s.", fittedValues(c.Job))}})
	}
}

// RefitLeakage extends the leakage statement of a job whose parties fit a second time. They do so
// after some parties or rows have changed.
func RefitLeakage(first, last method.Instance, lines map[string][]string, features int) {
	fitLeakage(last, lines, features)
	if first.Job.Data.FitsSchema() {
		addMissing(lines, map[string][]string{
			"party":  {"The parties fit twice. A party in both fits learns from the difference how much the added or removed rows add to each sum, such as the number of rows. If these are the rows of one party, or few rows, the differences are their own sums."},
			"server": {"The remaining rows were sent twice, prepared in two ways, and the server sees the products of both. Between deployed parties this takes a second job, which each party's ledger blocks until the party's operator approves it."},
		})
	}
}

// keptLeakage extends the leakage statement of a job whose file names the fit of an earlier job.
func keptLeakage(c method.Instance, lines map[string][]string) {
	if c.Job.Data.Prepares() {
		addMissing(lines, schemaLeakage())
	}
	said := fmt.Sprintf("The parties fit nothing in this job: they prepare their rows with the fit of job %v.", c.Job.Data.Fit.Job)
	if told := c.Job.Data.Fit.Told; len(told) > 0 {
		said += fmt.Sprintf(" The leader, %s, sends the fitted values of all columns of the dictionary to %s, which took no part in that job.", c.Parties[0], strings.Join(told, " and "))
	}
	addMissing(lines, map[string][]string{"party": {said}})
}

// FittedOf describes in words the fitted values that a newcomer receives from the other parties.
func FittedOf(j *job.Job) string {
	what := "scaling"
	if j.Data.FitsSchema() {
		what = "preparation"
	}
	return fmt.Sprintf("the %s that the others fitted: %s, over their rows", what, fittedValues(j))
}

// fittedValues lists the kinds of values that the parties of a job fit.
func fittedValues(j *job.Job) string {
	var parts []string
	if plan, err := prepare.NewPlan(j.Data.Schema, j.Data.Fitted()); err == nil {
		parts = plan.Holds()
	}
	if j.Data.ScalesTogether() {
		parts = append(parts, "two numbers for each column")
	}
	return strings.Join(parts, "; ")
}

// TraceOf describes in words the fitted values that still depend on the rows of a party that has
// left.
func TraceOf(j *job.Job) string {
	switch {
	case !j.Data.FitsSchema():
		return "the scaling"
	case !j.Data.ScalesTogether():
		return "the preparation (means, medians, most frequent words, agreed categories, deviations)"
	}
	return "the preparation (means, medians, most frequent words, agreed categories) and the scaling"
}
