package disclosure

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// Listed describes a release for the operator.
type Listed struct {
	ID       string
	State    State
	Kind     method.ReleaseKind
	Also     []method.ReleaseKind // kinds that the job releases besides this one
	Job      string
	Day      string // date of the latest disclosure, YYYY-MM-DD; "" if there was none, or in old formats
	Question bool
	Peers    []string
	Columns  int
	Rows     int
	Uses     int
	Told     float64   // how many numbers the sums contain for each cell of their rows; 0 if not counted
	Reveals  []string  // what the release reveals together with earlier ones; empty if it needs no approval
	From     []string  // IDs of the earlier releases that Reveals is about
	Earlier  []Earlier // the first of these releases, and of those that count towards an exceeded limit; none in old notes
	Others   int       // number of such releases that Earlier leaves out
	Table    string    // name of the table in the catalogue; "" in old notes, and if State is Released or Admitted
	Epsilon  float64   // of noise: epsilon of the job's guarantee
	Delta    float64   // of noise: delta of the job's guarantee
	Askers   []Asker   // jobs that have asked for the release, the latest last; at least one if the release awaits approval
	Since    time.Time
}

// Asker is a job that asks for a release.
type Asker struct {
	Job       string        // ID of the job
	Submitter access.Person // person who submitted the job, as the coordinator says; zero if nobody has said who
}

// AskedBy returns, of the jobs that have asked for the release, the latest that the person might have submitted, and
// true. If the person has certainly submitted none of them, it returns the latest job and false. Everybody might have
// submitted a job about which nothing is known: such a job it returns for a release without askers.
func (n Listed) AskedBy(who access.Person) (Asker, bool) {
	if len(n.Askers) == 0 {
		return Asker{}, true
	}
	for _, a := range slices.Backward(n.Askers) {
		if who.MayBe(a.Submitter) {
			return a, true
		}
	}
	return n.Askers[len(n.Askers)-1], false
}

// askedAlso returns the jobs that have asked for a release, with one more. If there are more than maxAskers, it
// replaces the oldest by one job about which nothing is known.
func askedAlso(list []Asker, one Asker) []Asker {
	list = append(slices.DeleteFunc(slices.Clone(list), func(a Asker) bool { return a.Job == one.Job && a.Job != "" }), one)
	if over := len(list) - maxAskers; over > 0 {
		list = append([]Asker{{}}, list[over+1:]...)
	}
	return list
}

// Learns describes in a sentence what each member can learn from this release alone.
func (n Listed) Learns() string {
	switch n.Kind {
	case method.ReleaseRows:
		return "the coordinator can learn the product of every two of these rows, and with other parties' rows: the rows themselves up to a rotation"
	case method.ReleaseSums:
		return "the coordinator can learn sums over all parties' rows; together with all other parties, the sums over these alone"
	case method.ReleaseModels:
		return "the parties can learn the weights of one model of all parties' rows, and who has records of a person can test whether that person is among them; two keepers together can learn the sums over these rows"
	case method.ReleaseNoise:
		return "the parties can learn the weights of one model of all parties' rows with noise, or the coordinator sums with noise; from these nobody can test well whether a person is among the rows, however much else is known: the smaller epsilon is, the worse"
	case method.ReleaseProducts:
		return "the coordinator can learn the product of every two of these rows over all parties' columns together"
	case method.ReleasePhases:
		return "a party with labels can learn, for each of these rows, sums of all parties' phases"
	case method.ReleaseIDs:
		return "the other parties can learn which of these ids all have"
	case method.ReleaseFit:
		return "the other parties can learn the values fitted on all rows, such as means and medians; the first party can learn the sums"
	}
	return ""
}

// These constants bound the notes about refused proposals, because a coordinator can propose any
// number.
const (
	maxHeld   = 4                   // largest number of notes in state Held of one kind with the same peers
	maxNotes  = 64                  // largest number of notes in state Held
	noteKept  = 30 * 24 * time.Hour // age at which a note about a release that is not disclosed is removed
	maxSaid   = 64                  // largest number of sentences in a note
	maxPhrase = 4 << 10             // largest number of bytes in a sentence
	maxFrom   = 16 * maxEntries     // largest number of earlier releases in a note
	maxAskers = 16                  // largest number of jobs in a note that have asked for its release
)

const (
	noteMagic     = "mercer/v1/held release"
	noteAlsoMagic = "mercer/v2/held release" // adds to v1 the field Also
	noteFromMagic = "mercer/v3/held release" // adds to v2 the field From
	noteAskMagic  = "mercer/v4/held release" // adds to v3 the fields Table and Askers
	noteWithMagic = "mercer/v5/held release" // adds to v4 the fields Earlier and Others
)

func (n Listed) encode() []byte {
	var w wire.Writer
	w.String(noteWithMagic)
	writeEarlier(&w, n.Earlier)
	w.Uint32(uint32(n.Others))
	w.String(n.Table)
	w.Uint32(uint32(len(n.Askers)))
	for _, a := range n.Askers {
		w.String(a.Job)
		a.Submitter.Write(&w)
	}
	w.Strings(texts(n.Also))
	w.Strings(n.From)
	w.String(string(n.Kind))
	w.String(n.Job)
	w.Bool(n.Question)
	w.Strings(n.Peers)
	w.Uint32(uint32(n.Columns))
	w.Uint32(uint32(n.Rows))
	w.Uint64(uint64(n.Since.Unix()))
	w.Uint32(uint32(len(n.Reveals)))
	for _, s := range n.Reveals {
		w.Bytes32([]byte(s))
	}
	return w.Bytes()
}

// shortened cuts sentences to the size of a note. It adds a digest, so that the approval of a short
// text covers no other sentences with the same beginning.
func shortened(said []string) []string {
	short := slices.Clone(said)
	for i, s := range short {
		if len(s) > maxPhrase {
			short[i] = fmt.Sprintf("%s... (%x)", strings.ToValidUTF8(s[:maxPhrase-80], ""), sha256.Sum256([]byte(s)))
		}
	}
	if len(short) > maxSaid {
		rest := strings.Join(said[maxSaid-1:], "\n")
		short = append(short[:maxSaid-1], fmt.Sprintf("and %d more (%x)", len(said)-maxSaid+1, sha256.Sum256([]byte(rest))))
	}
	return short
}

func decodeNote(b []byte) (Listed, error) {
	r := wire.NewReader(b)
	var n Listed
	magic := r.String(32)
	if magic == noteWithMagic {
		n.Earlier, n.Others = readEarlier(r), int(r.Uint32())
	}
	switch {
	case magic == noteWithMagic, magic == noteAskMagic:
		n.Table, n.Askers = r.String(maxText), readAskers(r)
		n.Also, n.From = readKinds(r), r.Strings(maxFrom, maxDigest)
	case magic == noteFromMagic:
		n.Askers = []Asker{{}}
		n.Also, n.From = readKinds(r), r.Strings(maxFrom, maxDigest)
	case magic == noteAlsoMagic:
		n.Askers = []Asker{{}}
		n.Also = readAlso(r)
	case magic == noteMagic:
		n.Askers = []Asker{{}}
	case r.Err() == nil:
		r.Fail(fmt.Errorf("the note's format %q is unknown", magic))
	}
	n.Kind, n.Job, n.Question = method.ReleaseKind(r.String(32)), r.String(maxText), r.Bool()
	n.Peers = r.Strings(maxPeers, maxText)
	n.Columns, n.Rows = int(r.Uint32()), int(r.Uint32())
	n.Since = time.Unix(int64(r.Uint64()), 0)
	for range r.Count(maxSaid, 4) {
		n.Reveals = append(n.Reveals, string(r.Bytes32(maxPhrase)))
	}
	return n, r.Close("held release")
}

func readAskers(r *wire.Reader) (list []Asker) {
	for range r.Count(maxAskers, minAsker) {
		list = append(list, Asker{Job: r.String(maxDigest), Submitter: access.Read(r)})
	}
	return list
}

// minAsker is less than the number of bytes of any encoded [Asker].
const minAsker = 4

// notes returns the notes about releases that await approval, are approved, or were disclosed with
// approval, oldest first. It removes a note that is unreadable, or older than noteKept and not about a
// disclosed release. Without a note, a release awaits approval again.
func (l Ledger) notes() ([]Listed, error) {
	notes, stale, err := l.readNotes()
	for _, path := range stale {
		err = errors.Join(err, l.remove(path))
	}
	return notes, err
}

// readNotes returns the notes, oldest first, and the paths of notes that are too old or unreadable.
func (l Ledger) readNotes() (notes []Listed, stale []string, err error) {
	names, err := l.names()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		m := noteName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		path := filepath.Join(string(l), name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("release: %w", err)
		}
		n, err := decodeNote(b)
		if err != nil || State(m[2]) != told && time.Since(n.Since) > noteKept {
			stale = append(stale, path)
			continue
		}
		n.ID, n.State = m[1], State(m[2])
		notes = append(notes, n)
	}
	slices.SortStableFunc(notes, func(a, b Listed) int { return a.Since.Compare(b.Since) })
	return notes, stale, nil
}

// Awaiting returns the releases that await approval, oldest first.
func (l Ledger) Awaiting() ([]Listed, error) {
	notes, err := l.notes()
	return slices.DeleteFunc(notes, func(n Listed) bool { return n.State != Held }), err
}

// List returns all releases. Disclosed and admitted releases come first, then releases that await
// approval or are approved.
func (l Ledger) List() ([]Listed, error) {
	var list []Listed
	err := l.forEach(func(s State, _ string, e *Entry) {
		if e.everywhere() {
			return // no release, but a note about unknown ones
		}
		list = append(list, Listed{
			ID: e.ID(), State: s, Kind: e.Kind, Also: e.Also, Job: e.Job, Day: e.Day, Question: e.Question, Peers: e.Peers,
			Columns: e.Width, Rows: e.size(), Uses: len(e.Uses), Told: e.Told(), Epsilon: e.Epsilon, Delta: e.Delta,
		})
	})
	if err != nil {
		return nil, err
	}
	notes, err := l.notes()
	for _, n := range notes {
		if n.State != told {
			list = append(list, n)
			continue
		}
		if i := slices.IndexFunc(list, func(e Listed) bool { return e.ID == n.ID && e.State == Released }); i >= 0 {
			list[i].Reveals, list[i].From = n.Reveals, n.From
		}
	}
	return list, err
}

// ErrNotHeld reports that no release with this ID awaits approval.
var ErrNotHeld = errors.New("no release with this ID awaits approval; see mercer release list")

// ErrNotThere reports that the ledger has no approved or waiting release with this ID.
var ErrNotThere = errors.New("no release with this ID awaits approval or is approved; see mercer release list. A disclosed release cannot be withdrawn")

// Approve approves a release for every job that would release equal content. The approval ends when
// the release is disclosed, or after 30 days. It first calls may with the release, and does nothing if
// may returns an error. While may runs, the release stays as it is.
func (l Ledger) Approve(id string, may func(Listed) error) error {
	return l.alone(func() error {
		n, err := l.find(id, Held)
		if err == nil {
			err = may(n)
		}
		if err != nil {
			return err
		}
		n.Since = time.Now()
		if err := l.write(l.note(id, Approved), n.encode()); err != nil {
			return err
		}
		return l.remove(l.note(id, Held))
	})
}

// Refuse removes a release that awaits approval, and any earlier approval of the release that covered less. If a job
// asks for the release again, the release awaits approval again. Refuse first calls may with the release, and does
// nothing if may returns an error. It returns [ErrNotHeld] if the release does not await approval.
func (l Ledger) Refuse(id string, may func(Listed) error) error {
	return l.alone(func() error {
		n, err := l.find(id, Held)
		if err != nil {
			return err
		}
		return l.forbid(n, may)
	})
}

// Withdraw removes an approval that no session has used, or a release that awaits approval. A
// session that was accepted with the approval, but has sent nothing, must be admitted again. It first
// calls may with the release, and does nothing if may returns an error. It returns [ErrNotThere] if
// there is neither.
func (l Ledger) Withdraw(id string, may func(Listed) error) error {
	return l.alone(func() error {
		n, err := l.find(id, Approved)
		if errors.Is(err, ErrNotHeld) {
			n, err = l.find(id, Held)
		}
		if errors.Is(err, ErrNotHeld) {
			return ErrNotThere
		}
		if err != nil {
			return err
		}
		return l.forbid(n, may)
	})
}

// forbid removes a release's admission and its notes, if may returns no error. A release has two notes, Held and
// Approved, if it reveals more than its approval says, or after a crash in Approve.
func (l Ledger) forbid(n Listed, may func(Listed) error) error {
	if err := may(n); err != nil {
		return err
	}
	return errors.Join(l.remove(l.entry(n.Kind, n.ID, Admitted)), l.remove(l.note(n.ID, Held)), l.remove(l.note(n.ID, Approved)))
}

func (l Ledger) find(id string, s State) (Listed, error) {
	notes, _, err := l.readNotes()
	if err != nil {
		return Listed{}, err
	}
	for _, n := range notes {
		if n.ID == id && n.State == s {
			return n, nil
		}
	}
	return Listed{}, ErrNotHeld
}
