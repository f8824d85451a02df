package rows

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/columnorder"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// namer is the machine that orders columns by name, at the leader or at another party.
type namer interface {
	protocol.Machine
	Order() []int
	Key() [32]byte
	Own() error
}

// columnOrder builds the machine with which the parties agree on the order of columns.
func (p *Party) columnOrder(s method.Setup) (*method.Run, error) {
	setup := s.Setup
	own := columnsOf(p.Job, p.read())
	m, err := newNamer(setup, own)
	if err != nil {
		return nil, fault.Names.Of(&unnameable{p.Split.Set.Name, err})
	}
	return &method.Run{Machine: m, InputHash: own.Hash(), Own: m.Own, Finish: func() error {
		p.key = m.Key()
		return p.arrange(m.Order(), setup.Session.With(protocol.RoleLeader)[0])
	}}, nil
}

// unnameable reports that a table's column names are unsuitable for the agreement on the column
// order. The error quotes these names.
type unnameable struct {
	table string
	err   error
}

func (e *unnameable) Error() string { return e.table + ": " + e.err.Error() }

func newNamer(setup protocol.Setup, own columnorder.Table) (namer, error) {
	if setup.Session.RoleOf(setup.Self) == protocol.RoleLeader {
		return columnorder.NewLeader(setup, own)
	}
	return columnorder.NewParty(setup, own)
}

// columnsOf returns the column names and classes that a party brings to the agreement. If the job
// lists the classes, the party has already checked its labels against that list.
func columnsOf(j *job.Job, set *dataset.Set) columnorder.Table {
	t := columnorder.Table{Columns: set.Columns, Width: set.X.Cols()}
	if agreesOnClasses(j) {
		t.Classes, _ = dataset.Classes(set.Labels)
	}
	return t
}

// arrange puts the party's columns into the common order, which the leader has determined.
func (p *Party) arrange(order []int, leader string) error {
	switch {
	case slices.IsSorted(order): // the columns are already in the common order
		return nil
	case p.raw != nil: // the parties read their columns in the schema's order, so a reordering is a fault
		return protocol.Blame(leader, protocol.KindInconsistent, errors.New("rows: the order of columns differs from the schema's order"))
	}
	old := p.Split.Set
	p.Split.Set = old.SelectColumns(order)
	if p.gridded == old {
		p.gridded = p.Split.Set // the grid is the same, and the former copy is not kept
	}
	if p.stream != nil {
		p.stream.arrange(order)
	}
	p.Scaling = scale.Scaling{Offset: linalg.At(p.Scaling.Offset, order), Factor: linalg.At(p.Scaling.Factor, order)}
	p.scaled()
	return nil
}

// agreesOnClasses reports whether the parties must agree on the classes. They must if the learner has
// classes that neither the data of the job nor its protocol lists.
func agreesOnClasses(j *job.Job) bool {
	return j.Task().Classes && j.Traits().Labels == nil && j.Data.Order == nil
}

// Alike reports a difference between the parties' tables that prevents a common training. It is for
// a process that owns all tables. The slice parties holds the names of the parties.
func Alike(j *job.Job, parties []string, sets []*dataset.Set) error {
	first := sets[0]
	classes := make(map[string]string) // maps each class to the first party that has it
	for i, set := range sets {
		if (set.Columns == nil) != (first.Columns == nil) {
			named, unnamed := parties[0], parties[i]
			if first.Columns == nil {
				named, unnamed = unnamed, named
			}
			return fmt.Errorf("the columns of %s have names, but the columns of %s have none; give every party the same columns, under the same names", named, unnamed)
		}
		if err := widths(parties[i], set, parties[0], first); err != nil {
			return err
		}
		if _, err := set.Arrange(parties[0]+"'s table", first.X.Cols(), first.Columns); err != nil {
			return fmt.Errorf("%s: %w", parties[i], err)
		}
		for _, class := range columnsOf(j, set).Classes {
			if _, known := classes[class]; !known {
				classes[class] = parties[i]
			}
		}
	}
	return spellings(classes)
}

// widths refuses a table without column names whose width differs from the first table's width.
func widths(party string, set *dataset.Set, leader string, first *dataset.Set) error {
	if set.Columns != nil || set.X.Cols() == first.X.Cols() {
		return nil
	}
	advice := "give every party the same columns"
	if _, sparse := set.X.(*dataset.CSR); sparse {
		advice = fmt.Sprintf(`give every party the same columns; where a file names none of the last ones, say how many there are: "features: %d"`, max(set.X.Cols(), first.X.Cols()))
	}
	return fmt.Errorf("%s has %d features and %s has %d; %s", party, set.X.Cols(), leader, first.X.Cols(), advice)
}

// spellings refuses two classes that differ only by case, blanks or Unicode form.
func spellings(who map[string]string) error {
	classes := make([]string, 0, len(who))
	for class := range who {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	one, other, clash := fuzzymatch.Clash(classes)
	if !clash {
		return nil
	}
	return &columnorder.ClassError{Class: one, Member: who[one], OtherClass: other, OtherMember: who[other]}
}
