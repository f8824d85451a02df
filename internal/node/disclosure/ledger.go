package disclosure

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/method"
)

// Ledger is the path of the folder that records a party's releases. The folder need not exist.
type Ledger string

// State is the stage of a release.
type State string

// These are the states of releases. Each is also the suffix of a file's name.
const (
	Released State = "released"
	Admitted State = "admitted"
	Held     State = "held"
	Approved State = "approved"
	// told is the state of the note that remains when an approved release is disclosed. The note
	// keeps what the release reveals together with earlier ones.
	told State = "told"
)

// Words returns the state's name for people. Files and signed notes keep the constants.
func (s State) Words() string {
	if s == Held {
		return "awaiting approval"
	}
	return string(s)
}

// HeldError reports that a release awaits the operator's approval. It names columns, so only
// the party's own log may have it.
type HeldError struct {
	ID       string
	Question bool
	Earlier  []string // jobs whose earlier releases reveal more together with this one; empty if only the job's split is the reason
	Reveals  []string // sentences that say what the releases reveal together
}

func (e *HeldError) Error() string {
	if len(e.Earlier) == 0 {
		return fmt.Sprintf("release %s awaits approval: %s; to approve it: mercer release approve %s", e.ID, strings.Join(e.Reveals, "; "), e.ID)
	}
	return fmt.Sprintf("release %s awaits approval: this %s and earlier ones (of job %s) use some of the same rows and together reveal more: %s; to approve it: mercer release approve %s",
		e.ID, e.noun(), strings.Join(e.Earlier, ", "), strings.Join(e.Reveals, "; "), e.ID)
}

// Public returns a text for peers, without the names of columns and jobs.
func (e *HeldError) Public() string {
	if len(e.Earlier) == 0 {
		return fmt.Sprintf("the %s awaits its operator's approval: it chooses the held-out rows itself; its operator can see more and approve it (mercer release list, release %s)", e.noun(), e.ID)
	}
	return fmt.Sprintf("the %s awaits its operator's approval: it differs from an earlier one over some of the same rows; its operator can see why and approve it (mercer release list, release %s)", e.noun(), e.ID)
}

func (e *HeldError) noun() string { return (&Entry{Question: e.Question}).noun() }

// DirectionsError reports that rows would be disclosed in more random directions than the operator
// allows over all jobs.
type DirectionsError struct{ Would, Most int }

func (e *DirectionsError) Error() string {
	return fmt.Sprintf("with this job, some rows would have been released in %d random directions over all jobs, and this party allows %d (max_directions_total in its policy)", e.Would, e.Most)
}

// maxEntries bounds the releases of each kind in a ledger.
const maxEntries = 1 << 10

// Admit records that a release may be disclosed, and returns the release's ID. It is called before
// a session begins. It returns a *HeldError if the operator must approve the release first, and a
// *DirectionsError if rows would be disclosed in more directions than maxDirections (0 for any
// number). Of two releases that are admitted at once and reveal something together, the later one awaits
// approval. Admitting the same job's release again changes nothing. A release that awaits approval is
// noted with the job that asks for it.
func (l Ledger) Admit(asker Asker, r method.Release, maxDirections int) (id string, err error) {
	key, err := l.key()
	if err != nil {
		return "", err
	}
	e, err := entryOf(key, r)
	if err != nil {
		return "", err
	}
	id = e.ID()
	space, err := scratch.New(string(l))
	if err != nil {
		return "", err
	}
	err = l.alone(func() error { return l.admit(asker, e, id, maxDirections, space) })
	return id, errors.Join(err, space.Close())
}

// entryOf returns the entry of a release. It refuses rows that cannot be compared.
func entryOf(key []byte, r method.Release) (*Entry, error) {
	if r.Blocks != nil && r.Edition.ID == "" {
		return nil, errors.New("release: the rows of a table that is read in blocks have no edition, so they cannot be compared with earlier releases")
	}
	return newEntry(key, r), nil
}

func (l Ledger) admit(asker Asker, e *Entry, id string, maxDirections int, space extsort.Store) error {
	c, err := l.judge(e, id, maxDirections, space)
	var held *HeldError
	if errors.As(err, &held) {
		return errors.Join(l.hold(c, asker), l.remove(l.note(id, Approved)), held)
	}
	if err != nil || l.isDisclosed(e, id) {
		return err
	}
	file := l.entry(e.Kind, id, Admitted)
	switch other, err := l.read(file); {
	case err == nil:
		if other.ID() == id { // another job was admitted with equal rows, so the entry records both uses
			e.mergeFrom(other)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return errors.Join(l.keepPeople(c), l.write(file, e.Encode()))
}

// judge compares a release with all earlier ones, and returns the error for which it is not admitted.
// It changes nothing. It sorts in space.
func (l Ledger) judge(e *Entry, id string, maxDirections int, space extsort.Store) (*comparison, error) {
	c, err := l.compare(e, id, space)
	if err != nil {
		return nil, err
	}
	if e.Kind == method.ReleasePhases && maxDirections > 0 {
		would, err := l.directions(c)
		if err != nil {
			return nil, err
		}
		if would > maxDirections {
			return nil, &DirectionsError{would, maxDirections}
		}
	}
	approved, err := l.find(id, Approved)
	if err != nil && !errors.Is(err, ErrNotHeld) {
		return nil, err
	}
	if len(c.said) > 0 && (err != nil || !c.allowedBy(approved)) {
		return c, &HeldError{id, e.Question, c.jobs(), c.said}
	}
	if len(c.heads) >= maxEntries && !l.isDisclosed(e, id) {
		return nil, fmt.Errorf("release: the ledger %s is full, with %d releases of %s; move the folder away to begin a new ledger, which compares no release with the old ones", l, len(c.heads), e.Kind)
	}
	return c, nil
}

// directions adds up the random directions of each row over all jobs, including this one, and
// returns the largest sum.
func (l Ledger) directions(c *comparison) (int, error) {
	if err := c.loadRows(); err != nil {
		return 0, err
	}
	totals := make([]int, len(c.now.Rows))
	seen := make(map[string][]bool) // for each model: whether each row is counted
	for _, h := range c.heads {
		earlier, err := l.read(h.file)
		if err != nil {
			return 0, err
		}
		for _, u := range h.Uses {
			if c.now.usedBy(u.Model) {
				continue // this job's directions are added at the end
			}
			if seen[u.Model] == nil {
				seen[u.Model] = make([]bool, len(c.now.Rows))
			}
			counted := seen[u.Model]
			meet(c.now.Rows, earlier.Rows, func(i int, _ Row) {
				if !counted[i] {
					counted[i], totals[i] = true, totals[i]+int(u.Directions)
				}
			})
		}
	}
	most := slices.Max(append(totals, 0))
	for _, u := range c.now.Uses {
		most += int(u.Directions)
	}
	return most, nil
}

// hold writes a note that a release awaits approval, and for which jobs. If there are too many notes, it removes the
// oldest.
func (l Ledger) hold(c *comparison, asker Asker) error {
	e, id := c.now, c.id
	notes, err := l.notes()
	if err != nil {
		return err
	}
	var alike, held []Listed
	askers := []Asker{asker}
	for _, n := range notes {
		if n.ID == id && n.State != told {
			askers = askedAlso(n.Askers, asker)
		}
		if n.State != Held || n.ID == id {
			continue
		}
		held = append(held, n)
		if n.Kind == e.Kind && slices.Equal(n.Peers, e.Peers) {
			alike = append(alike, n)
		}
	}
	if len(alike) >= maxHeld {
		err = l.remove(l.note(alike[0].ID, Held))
	} else if len(held) >= maxNotes {
		err = l.remove(l.note(held[0].ID, Held))
	}
	earlier, others := c.earlier()
	n := Listed{Kind: e.Kind, Also: e.Also, Job: e.Job, Question: e.Question, Peers: e.Peers, Columns: e.Width, Rows: e.size(), Reveals: shortened(c.said), From: c.from, Earlier: earlier, Others: others, Table: e.Table, Askers: askers, Since: time.Now()}
	return errors.Join(err, l.write(l.note(id, Held), n.encode()))
}

// isDisclosed reports whether a release was already disclosed with all of its uses, and not only inside
// a study to which it does not belong.
func (l Ledger) isDisclosed(e *Entry, id string) bool {
	before, err := l.read(l.entry(e.Kind, id, Released))
	if err != nil || before.ID() != id || before.pending() || !before.covers(e) {
		return false
	}
	for _, u := range e.Uses {
		if !slices.ContainsFunc(before.Uses, func(known Use) bool { return known.covers(u) }) {
			return false
		}
	}
	for _, k := range e.Also {
		if !slices.Contains(before.Also, k) {
			return false
		}
	}
	return e.Fit.Values == "" || e.Fit.Values == before.Fit.Values
}

// ErrNotAdmitted reports that a release is neither admitted nor disclosed, or that only its fit was
// disclosed. For example its approval was withdrawn, or another ledger admitted it.
var ErrNotAdmitted = errors.New("release: the ledger has not admitted this release")

// Release durably records that an admitted release is being disclosed. It does nothing if the
// release was disclosed before. It returns [ErrNotAdmitted] if the release is neither admitted nor
// disclosed under this ID, or if only its fit was disclosed.
func (l Ledger) Release(kind method.ReleaseKind, id string) error {
	return l.alone(func() error { return l.release(kind, id) })
}

func (l Ledger) release(kind method.ReleaseKind, id string) error {
	admission := l.entry(kind, id, Admitted)
	e, err := l.read(admission)
	if errors.Is(err, fs.ErrNotExist) {
		before, err := l.read(l.entry(kind, id, Released))
		if errors.Is(err, fs.ErrNotExist) || err == nil && (before.ID() != id || before.pending()) {
			err = ErrNotAdmitted
		}
		return err
	}
	if err != nil {
		return err
	}
	grown, err := l.grow(e)
	if err != nil {
		return err
	}
	e.Day = time.Now().UTC().Format(time.DateOnly)
	if err := l.write(l.entry(kind, e.ID(), Released), e.Encode()); err != nil {
		return err
	}
	for _, old := range grown {
		if old != l.entry(kind, e.ID(), Released) {
			err = errors.Join(err, l.remove(old))
		}
	}
	err = errors.Join(err, l.remove(admission))
	if e.pending() {
		return err // keep the approval, because it also covers the rows that the fit prepares
	}
	return errors.Join(err, l.keepNote(id))
}

// keepNote keeps the note about an approved release after the disclosure. The list then still shows
// what the release reveals together with earlier ones. It does nothing for a release that needed no
// approval.
func (l Ledger) keepNote(id string) error {
	n, err := l.find(id, Approved)
	if errors.Is(err, ErrNotHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	if before, err := l.find(id, told); err == nil {
		n.Reveals = shortened(slices.Compact(slices.Sorted(slices.Values(slices.Concat(n.Reveals, before.Reveals)))))
	}
	return errors.Join(l.write(l.note(id, told), n.encode()), l.remove(l.note(id, Approved)))
}

// grow merges earlier entries of the same release into e. It returns the files of these earlier
// entries, which the caller removes. For encoded rows, and for questions about one model, it merges
// all entries that [Entry.canMerge] permits, because a new entry only adds rows.
func (l Ledger) grow(e *Entry) (files []string, err error) {
	heads, err := l.heads()
	if err != nil {
		return nil, err
	}
	id := e.ID()
	for _, h := range heads {
		if h.Kind != e.Kind || !strings.HasSuffix(h.file, string(Released)) || h.id != id && !e.canMerge(h.Entry) {
			continue
		}
		earlier, err := l.read(h.file)
		if err != nil {
			return nil, err
		}
		if m := e.meet(earlier); h.id != id && m.changed+m.relabelled+m.reweighed > 0 {
			continue // the rows differ, so the earlier release stays a separate entry
		}
		e.mergeFrom(earlier)
		files = append(files, h.file)
	}
	return files, nil
}

// canMerge reports whether two entries can be merged into one. Entries of noise cannot, because each has its own cost.
// Entries of different tables cannot, because an entry has one table's name. Entries of a study and of jobs outside it
// cannot, because the operator has approved the study for its own jobs alone.
func (e *Entry) canMerge(o *Entry) bool {
	if e.Kind == method.ReleaseNoise || !e.sameSettings(o) || e.Study != o.Study || e.Weight != o.Weight || e.Question != o.Question || e.Table != o.Table || e.Edition != "" || o.Edition != "" {
		return false
	}
	return e.Kind == method.ReleaseRows && e.Fit == Fit{} && o.Fit == Fit{} && e.Schema == o.Schema || e.Question && len(e.Uses) == 1 && len(o.Uses) == 1 && e.Uses[0] == o.Uses[0]
}

// mergeFrom adds the rows and uses of an earlier entry to entry e.
func (e *Entry) mergeFrom(earlier *Entry) {
	if e.Fit.Values == "" {
		e.Fit.Values = earlier.Fit.Values
	}
	if e.Study != earlier.Study {
		e.Study = "" // a release outside the study, too, is compared with every other release
	}
	e.Also = slices.Compact(slices.Sorted(slices.Values(slices.Concat(e.Also, earlier.Also))))
	uses := e.Uses
	e.Uses = nil
	e.addUses(earlier.Uses)
	e.addUses(uses)
	e.Known = slices.Compact(slices.Sorted(slices.Values(slices.Concat(e.Known, earlier.Known))))
	var more []Row
	has := make([]bool, len(earlier.Rows))
	meet(earlier.Rows, e.Rows, func(i int, _ Row) { has[i] = true })
	for i, row := range earlier.Rows {
		if !has[i] {
			more = append(more, row)
		}
	}
	e.Rows, _ = mergePeople(append(e.Rows, more...)) // mergePeople only sorts here, because each person has one row
	e.More = append(e.More, earlier.More...)
	slices.SortFunc(e.More, compareMembers)
	e.More = slices.Compact(e.More)
}

// addUses adds the uses of jobs to the entry. A use replaces an old use of the same job, unless the
// old use covers it.
func (e *Entry) addUses(uses []Use) {
	for _, u := range uses {
		i := slices.IndexFunc(e.Uses, func(o Use) bool { return o.Model == u.Model })
		switch {
		case i < 0:
			e.Uses = append(e.Uses, u)
		case !e.Uses[i].covers(u):
			e.Uses[i] = u
		}
	}
	if over := len(e.Uses) - maxUses; over > 0 {
		e.Uses = slices.Delete(e.Uses, 0, over)
	}
}

// Abandon removes an admitted release that was not disclosed.
func (l Ledger) Abandon(kind method.ReleaseKind, id string) error {
	return l.alone(func() error { return l.remove(l.entry(kind, id, Admitted)) })
}

// ReleaseAdmitted counts everything that is admitted as released. A home that was restored from a backup
// does not know what it has released since.
func (l Ledger) ReleaseAdmitted() error {
	return l.alone(func() error {
		files, err := l.files(Admitted)
		if err != nil {
			return err
		}
		for _, f := range files {
			m := entryName.FindStringSubmatch(filepath.Base(f))
			err = errors.Join(err, l.release(method.ReleaseKind(m[1]), m[2]))
		}
		return err
	})
}

// Restart removes the releases that were admitted, but not disclosed, before a restart. Resumed
// sessions admit them again. A session that is no longer open counts with the number of ids that each
// peer announced or, if that is unknown, with the largest number that it could have announced.
func (l Ledger) Restart(open func(session string) bool) error {
	if empty, err := l.Empty(); empty || err != nil {
		return err
	}
	return l.alone(func() error {
		files, err := l.files(Admitted)
		if err != nil {
			return err
		}
		for _, f := range files {
			err = errors.Join(err, l.remove(f))
		}
		return errors.Join(err, l.forgetPeople(), l.closeSessions(open))
	})
}

func (l Ledger) closeSessions(open func(string) bool) error {
	b, err := l.readBook()
	if err != nil || len(b.charges) == 0 {
		return err
	}
	b.fold(func(c charge) bool { return !open(c.session) })
	return l.write(filepath.Join(string(l), peersName), b.encode())
}
