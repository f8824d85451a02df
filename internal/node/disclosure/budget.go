package disclosure

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/privacy"
)

// Releases of noise are not compared with other releases: their cost bounds what they tell about a person, and the
// costs of all releases of noise over one table add up. A table is known by its name in the catalogue, by the file or
// database that it is read from, and by the dictionary of its jobs. None of these depends on rows, so no refusal does.

// BudgetError reports that a job's noise costs more than the privacy budget of its table has left, that nobody knows
// how much is left, or that the table has no budget. It depends on the operator's policy and on earlier jobs, and not
// on the rows.
type BudgetError struct {
	Asked  privacy.Guarantee // guarantee that the job asks for
	Budget privacy.Guarantee // budget of the table; zero if the policy has none
	Left   float64           // largest epsilon of one more job at the budget's delta, rounded down; 0 if none is possible
	// Unknown says that nobody knows how much was spent: the home was restored from an old backup, or the ledger lacks
	// releases that the audit record has.
	Unknown bool
}

func (e *BudgetError) Error() string {
	switch {
	case e.Budget == privacy.Guarantee{}:
		return "the job adds noise for differential privacy, and this party has set no privacy budget for the table (\"privacy\" in its policy)"
	case e.Unknown:
		return "this party does not know what earlier jobs have spent of the table's privacy budget, because its home was restored from an old backup or its ledger is not whole; its operator states it with mercer budget settle"
	}
	left := "nothing"
	if e.Left > 0 {
		left = fmt.Sprintf("one job with epsilon %g", e.Left)
	}
	return fmt.Sprintf(`the job asks for epsilon %g at delta %g; of the table's privacy budget, epsilon %g at delta %g, earlier jobs have left %s ("privacy" in this party's policy)`,
		e.Asked.Epsilon, e.Asked.Delta, e.Budget.Epsilon, e.Budget.Delta, left)
}

// Reserve reserves the cost of noise that a session will disclose, and returns the release's ID. It is called before
// the session begins. It returns a *BudgetError if the cost and everything that the table's jobs have spent or reserved
// so far exceed the budget, if nobody knows how much they have spent, or if there is no budget. [Ledger.Release] spends
// the reserved cost, and [Ledger.Abandon] gives it back. Reserving for the same job again changes nothing. The list
// recorded holds the IDs of all noise that the audit record has as released. If the ledger has not released one of
// them, Reserve notes that nobody knows how much was spent.
func (l Ledger) Reserve(r method.Release, budget privacy.Guarantee, recorded []string) (id string, err error) {
	key, err := l.key()
	if err != nil {
		return "", err
	}
	e, err := noiseOf(key, r)
	if err != nil {
		return "", err
	}
	id = e.ID()
	space, err := scratch.New(string(l))
	if err != nil {
		return "", err
	}
	err = l.alone(func() error {
		b, err := l.books()
		if err != nil {
			return err
		}
		if b.lacks(recorded) && !b.unknown() {
			if b, err = l.loseSight(b); err != nil {
				return err
			}
		}
		if err := b.afford(e, id, budget); err != nil || b.paid(id) {
			return err
		}
		c := &comparison{now: e, id: id, space: space}
		return errors.Join(l.keepPeople(c), l.write(l.entry(e.Kind, id, Admitted), e.Encode()))
	})
	return id, errors.Join(err, space.Close())
}

// Reserve returns what [Ledger.Reserve] would return.
func (p Preview) Reserve(r method.Release, budget privacy.Guarantee, recorded []string) (id string, err error) {
	err = p.read(func() error {
		key, err := p.ledger.storedKey()
		if err != nil {
			return err
		}
		if key == nil { // an empty ledger has nothing to add up
			key = make([]byte, keyBytes)
		}
		e, err := noiseOf(key, r)
		if err != nil {
			return err
		}
		id = e.ID()
		b, err := p.ledger.books()
		if err != nil {
			return err
		}
		if b.lacks(recorded) {
			b = append(b, head{Entry: lostEntry(""), file: string(Released)})
		}
		return b.afford(e, id, budget)
	})
	return id, err
}

// noiseOf returns the entry of a release of noise. It refuses a release without a cost or without a job that pays it.
func noiseOf(key []byte, r method.Release) (*Entry, error) {
	e, err := entryOf(key, r)
	if err != nil {
		return nil, err
	}
	if r.Kind != method.ReleaseNoise {
		return nil, fmt.Errorf("release: a privacy budget pays for noise, but the release is of %s", r.Kind)
	}
	if r.Model == "" {
		return nil, errors.New("release: the release of noise names no job that pays for it")
	}
	if err := errors.Join(e.checkNoise(), privacy.Guarantee{Epsilon: r.Epsilon, Delta: r.Delta}.Check()); err != nil {
		return nil, fmt.Errorf("release: %w", err)
	}
	return e, nil
}

// books are the entries of noise.
type books []head

// books returns the entries of noise without their rows, each once: a crash can leave one release both spent and
// reserved.
func (l Ledger) books() (b books, err error) {
	all, err := l.heads() // released entries come first
	for _, h := range all {
		if h.Kind == method.ReleaseNoise && !slices.ContainsFunc(b, func(o head) bool { return o.id == h.id }) {
			b = append(b, h)
		}
	}
	return b, err
}

// paid reports whether the cost of a release has been spent.
func (b books) paid(id string) bool {
	return slices.ContainsFunc(b, func(h head) bool { return h.id == id && h.released() })
}

// lacks reports whether a recorded release is not in the books as spent.
func (b books) lacks(recorded []string) bool {
	return slices.ContainsFunc(recorded, func(id string) bool { return !b.paid(id) })
}

// unknown reports whether nobody knows how much was spent.
func (b books) unknown() bool {
	return slices.ContainsFunc(b, func(h head) bool { return h.lost() })
}

// afford returns an error unless the table's budget suffices for the release beside all others of the table.
func (b books) afford(e *Entry, id string, budget privacy.Guarantee) error {
	why := &BudgetError{Asked: privacy.Guarantee{Epsilon: e.Epsilon, Delta: e.Delta}, Budget: budget}
	switch {
	case budget == privacy.Guarantee{}:
		return why
	case b.paid(id):
		return nil
	case b.unknown():
		why.Unknown = true
		return why
	case len(b) >= maxEntries:
		return fmt.Errorf("release: the ledger is full, with %d releases of noise, so this home takes part in no further job with privacy", len(b))
	}
	spent := b.costs(e, id)
	if suffices(budget, addUp(spent, e.Rho)) {
		return nil
	}
	why.Left = left(spent, budget)
	return why
}

// suffices reports whether a budget pays a cost. Both conversions are rounded against the job, by less than one part in
// a million. The first lets a job pass that asks for exactly the budget.
func suffices(budget privacy.Guarantee, rho float64) bool {
	return rho <= budget.Rho() || privacy.Epsilon(rho, budget.Delta) <= budget.Epsilon
}

// costs adds up what the other releases of an entry's table cost.
func (b books) costs(e *Entry, id string) (rho float64) {
	for _, h := range b.of(names{}.and(e)) {
		if h.id != id {
			rho = addUp(rho, h.Rho)
		}
	}
	return rho
}

// names identifies a table by its names in the catalogue, and by digests of further names.
type names map[string]bool

// and adds the names of an entry.
func (n names) and(e *Entry) names {
	for _, name := range e.names() {
		n[name] = true
	}
	return n
}

func (e *Entry) names() []string {
	if e.Table == "" {
		return e.Known
	}
	return append([]string{"table " + e.Table}, e.Known...)
}

// everywhere reports whether an entry of noise counts for every table: a note or a statement about unknown jobs, or the
// noise of a table without names.
func (e *Entry) everywhere() bool { return e.Kind == method.ReleaseNoise && len(e.names()) == 0 }

// of returns the entries of a table. An entry that shares one name with the table adds its other names, so a table that
// was first renamed and then moved has one budget. For a table without names it returns all entries, because nobody can
// tell two such tables apart.
func (b books) of(table names) (list books) {
	if len(table) == 0 {
		return b
	}
	rest := slices.Clone(b)
	for {
		i := slices.IndexFunc(rest, func(h head) bool {
			return h.everywhere() || slices.ContainsFunc(h.names(), func(name string) bool { return table[name] })
		})
		if i < 0 {
			return list
		}
		list = append(list, rest[i])
		table.and(rest[i].Entry)
		rest = slices.Delete(rest, i, i+1)
	}
}

// addUp returns the sum of two costs, rounded up unless it is exact (Knuth, The Art of Computer Programming, volume 2,
// section 4.2.2, theorem B).
func addUp(a, b float64) float64 {
	sum := a + b
	ofB := sum - a
	if lost := (a - (sum - ofB)) + (b - ofB); lost > 0 {
		return math.Nextafter(sum, math.Inf(1))
	}
	return sum
}

// left returns the epsilon of one more job at the budget's delta, rounded down to three digits; 0 if no job can have so
// little.
func left(spent float64, budget privacy.Guarantee) float64 {
	if spent == 0 {
		return budget.Epsilon
	}
	rest := math.Nextafter(budget.Rho()-spent, 0)
	if !(rest > 0) {
		return 0
	}
	epsilon := min(privacy.Epsilon(rest, budget.Delta), budget.Epsilon)
	digit := math.Pow(10, math.Floor(math.Log10(epsilon))-2)
	for n := math.Floor(epsilon / digit); n > 0; n-- {
		one := privacy.Guarantee{Epsilon: rounded(n * digit), Delta: budget.Delta}
		switch {
		case one.Check() != nil:
			return 0
		case one.Rho() <= rest:
			return one.Epsilon
		}
	}
	return 0
}

// rounded returns v rounded to three significant decimal digits.
func rounded(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return short
}

// lost reports whether an entry stands for releases whose cost nobody knows.
func (e *Entry) lost() bool { return e.Kind == method.ReleaseNoise && e.Rho == math.MaxFloat64 }

// lostEntry returns an entry that costs more than every budget of every table.
func lostEntry(name string) *Entry {
	return &Entry{Kind: method.ReleaseNoise, Uses: []Use{{Model: name}}, Rho: math.MaxFloat64, Day: today()}
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// Lose notes that jobs may have spent any part of the budgets, because the home does not know what it has released
// since a backup. From then on further jobs with privacy are refused, until [Ledger.Settle]. It returns the ID of the
// note, which belongs in the audit record.
func (l Ledger) Lose() (id string, err error) {
	if _, err := l.key(); err != nil {
		return "", err
	}
	err = l.alone(func() error {
		b, err := l.loseSight(nil)
		if err == nil {
			id = b[0].id
		}
		return err
	})
	return id, err
}

// loseSight writes the note of [Ledger.Lose], and adds it to the books.
func (l Ledger) loseSight(b books) (books, error) {
	name, err := drawName()
	if err != nil {
		return nil, err
	}
	h, err := l.enter(lostEntry(name))
	return append(b, h), err
}

// enter writes an entry in state Released.
func (l Ledger) enter(e *Entry) (head, error) {
	id := e.ID()
	file := l.entry(e.Kind, id, Released)
	return head{e, id, file}, l.write(file, e.Encode())
}

// drawName draws a name for an entry of no known job.
func drawName() (string, error) {
	var b [16]byte
	_, err := rand.Read(b[:])
	return hex.EncodeToString(b[:]), err
}

// Settle records how much unknown jobs have spent of every table's budget, and ends the effect of [Ledger.Lose]. Zero
// says that they have spent nothing. Before it ends the effect, it calls may with the ID of the record, or "" for zero.
// If may returns an error, Settle leaves the ledger as it was.
func (l Ledger) Settle(spent privacy.Guarantee, may func(id string) error) error {
	if _, err := l.key(); err != nil {
		return err
	}
	return l.alone(func() error {
		b, err := l.books()
		if err != nil {
			return err
		}
		e, err := statement(spent)
		if err != nil {
			return err
		}
		id := ""
		if e != nil { // before the note is removed, so that a crash leaves too much spent, and never too little
			h, err := l.enter(e)
			if err != nil {
				return err
			}
			id = h.id
		}
		if err := may(id); err != nil {
			if e != nil {
				err = errors.Join(err, l.remove(l.entry(e.Kind, id, Released)))
			}
			return err
		}
		for _, h := range b {
			if h.lost() {
				err = errors.Join(err, l.remove(h.file))
			}
		}
		return err
	})
}

// statement returns the entry of an operator's statement how much unknown jobs have spent. It returns nil for nothing.
func statement(spent privacy.Guarantee) (*Entry, error) {
	if spent == (privacy.Guarantee{}) {
		return nil, nil
	}
	if err := spent.Check(); err != nil {
		return nil, err
	}
	name, err := drawName()
	rho := spent.Rho() * (1 + 1e-5) // an upper bound, unlike Rho, which is rounded down by less than one part in a million
	return &Entry{Kind: method.ReleaseNoise, Uses: []Use{{Model: name}}, Rho: rho, Epsilon: spent.Epsilon, Delta: spent.Delta, Day: today()}, err
}

// Account lists what jobs have spent of a table's privacy budget, and the releases that no budget covers.
type Account struct {
	Spendings []Spending
	Unknown   bool   // nobody knows how much unknown jobs have spent
	Voids     []Void // releases without noise of the same table, or of people who are in its releases of noise
	rho       float64
}

// Spending is one release of noise.
type Spending struct {
	ID      string
	State   State  // Released, or Admitted while a job has reserved it
	Job     string // "" for an operator's statement about unknown jobs
	Day     string // "" while the cost is reserved
	Table   string
	Epsilon float64
	Delta   float64
}

// Void is a release without noise, which no budget covers.
type Void struct {
	ID   string
	Kind method.ReleaseKind
	Job  string
	Day  string
}

// Left returns the epsilon of one more job at the delta of a budget, rounded down; 0 if none is possible.
func (a Account) Left(budget privacy.Guarantee) float64 {
	if a.Unknown {
		return 0
	}
	return left(a.rho, budget)
}

// Spent returns the epsilon of all spendings together at a delta, rounded up. It is infinite while nobody knows it.
func (a Account) Spent(delta float64) float64 {
	switch {
	case a.Unknown:
		return math.Inf(1)
	case a.rho == 0:
		return 0
	}
	return privacy.Epsilon(a.rho, delta)
}

// Account returns the account of a table, which is known by its name in the catalogue and the further names of
// [method.Release]. Recorded is as in [Ledger.Reserve]. It changes nothing.
func (l Ledger) Account(table string, known, recorded []string) (a Account, err error) {
	key, err := l.storedKey()
	if err != nil {
		return a, err
	}
	all, err := l.books()
	if err != nil {
		return a, err
	}
	now := &Entry{Table: table}
	d := newDigest(key, method.Release{Kind: method.ReleaseIDs})
	for _, name := range known {
		now.Known = append(now.Known, d.hex("name of a table", []byte(name)))
	}
	a.Unknown = all.unknown() || all.lacks(recorded)
	under := names{}.and(now)
	own := all.of(under)
	for _, h := range own {
		a.rho = addUp(a.rho, h.Rho)
	}
	a.Spendings = own.spendings()
	a.Voids, err = l.voids(under, own)
	return a, err
}

// Noisy lists all releases of noise, and operators' statements about unknown ones.
func (l Ledger) Noisy() ([]Spending, error) {
	b, err := l.books()
	return b.spendings(), err
}

// spendings describes entries, in the order of their days. It leaves out the notes of [Ledger.Lose].
func (b books) spendings() (list []Spending) {
	for _, h := range b {
		if h.lost() {
			continue
		}
		s := Spending{ID: h.id, State: Released, Job: h.Job, Day: h.Day, Table: h.Table, Epsilon: h.Epsilon, Delta: h.Delta}
		if !h.released() {
			s.State = Admitted
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(x, y Spending) int { return strings.Compare(x.Day, y.Day) })
	return list
}

// voids lists the releases without noise of a table, or of people in its releases of noise. Only the operator sees the
// list, because it depends on rows. Before a table's first release of noise, the list has the releases under the
// table's name: later noise does not protect against these.
func (l Ledger) voids(table names, noisy books) (list []Void, err error) {
	heads, err := l.heads()
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		if h.Kind == method.ReleaseNoise || !h.released() {
			continue
		}
		same := table["table "+h.Table]
		for i := 0; i < len(noisy) && !same; i++ {
			if same, err = l.share(h, noisy[i]); err != nil {
				return nil, err
			}
		}
		if same {
			list = append(list, Void{h.id, h.Kind, h.Job, h.Day})
		}
	}
	return list, nil
}

// share reports whether two releases have people in common, or might have.
func (l Ledger) share(a, b head) (bool, error) {
	if b.everywhere() {
		return false, nil
	}
	one, known, err := l.peopleOf(a)
	if err != nil || !known {
		return true, err
	}
	other, known, err := l.peopleOf(b)
	if err != nil || !known {
		return true, err
	}
	return overlap(one, other)
}
