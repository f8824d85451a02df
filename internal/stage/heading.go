package stage

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/spell"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/heading"
)

// headingStage brings the columns of all parties into one order, by their names. It
// comes before anything is computed from rows of several tables. The coordinator is
// no member of its session.
func headingStage(c Cast) Stage {
	return Stage{Name: "heading", Session: &Session{
		Protocol: heading.Name, Version: heading.Version, Members: c.parties(), Purpose: "train",
		party: func(p *Party, setup Setup) (*Run, error) { return p.heading(setup.Setup) },
	}}
}

// namer is what leader and party of the session have in common.
type namer interface {
	protocol.Machine
	Order() []int
	Own() error
}

// heading is the machine that agrees on the order of columns.
func (p *Party) heading(setup protocol.Setup) (*Run, error) {
	own := headingOf(p.Job, p.split.Set)
	m, err := newNamer(setup, own)
	if err != nil {
		return nil, fault.BadInput(&unnameable{p.split.Set.Name, err})
	}
	return &Run{Machine: m, InputHash: own.Hash(), Own: m.Own, Finish: func() error {
		p.arrange(m.Order())
		return nil
	}}, nil
}

// unnameable is a table whose names cannot be agreed on; its error quotes them.
type unnameable struct {
	table string
	err   error
}

func (e *unnameable) Error() string { return e.table + ": " + e.err.Error() }

// Public is what peers may be told.
func (e *unnameable) Public() string {
	return "its columns or classes cannot be agreed on by their names; its own log says why"
}

func newNamer(setup protocol.Setup, own heading.Table) (namer, error) {
	if setup.Session.RoleOf(setup.Self) == protocol.RoleLeader {
		return heading.NewLeader(setup, own)
	}
	return heading.NewParty(setup, own)
}

// headingOf is what a party says of its table. Where the job lists the classes, all
// have been checked against that list.
func headingOf(j *job.Job, set *dataset.Set) heading.Table {
	t := heading.Table{Columns: set.Columns, Width: set.X.Cols()}
	if j.Learner.Name.Classifies() && !is[*momentsKeys](j) {
		t.Classes, _ = dataset.Classes(set.Labels)
	}
	return t
}

// arrange puts the party's columns into the common order.
func (p *Party) arrange(order []int) {
	if slices.IsSorted(order) { // they are in it
		return
	}
	p.split.Set = p.split.Set.SelectColumns(order)
	p.rows = dataset.RowsOf(p.split.Set.X)
}

// headingFacts are what the leakage of that agreement depends on.
func (s *Server) headingLeakage() map[string][]string {
	classes := s.Job.Learner.Name.Classifies() && !is[*momentsKeys](s.Job)
	return heading.Leakage(heading.Facts{Leader: s.Cast.Parties[0], Classes: classes})
}

// Alike says what would keep the parties' tables from being trained on together, by
// name: it is for a process that owns all of them. Names are the parties'.
func Alike(j *job.Job, names []string, sets []*dataset.Set) error {
	first := sets[0]
	classes := make(map[string]string) // who has each
	for i, set := range sets {
		if (set.Columns == nil) != (first.Columns == nil) {
			return fmt.Errorf("the columns of %s have names and those of %s have none; give every party the same columns, under the same names", withNames(names[0], names[i], first), withNames(names[i], names[0], first))
		}
		if err := widths(names[i], set, names[0], first); err != nil {
			return err
		}
		if _, err := set.Arrange(names[0]+"'s table", first.X.Cols(), first.Columns); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		for _, class := range headingOf(j, set).Classes {
			if _, known := classes[class]; !known {
				classes[class] = names[i]
			}
		}
	}
	return spellings(classes)
}

// withNames is who of two has names, if the first table has them the first one.
func withNames(one, other string, first *dataset.Set) string {
	if first.Columns != nil {
		return one
	}
	return other
}

// widths refuses tables without names whose widths differ.
func widths(party string, set *dataset.Set, leader string, first *dataset.Set) error {
	if set.Columns != nil || set.X.Cols() == first.X.Cols() {
		return nil
	}
	advice := "give every party the same columns"
	if _, sparse := set.X.(*dataset.CSR); sparse {
		advice = fmt.Sprintf("give every party the same columns; where a file names none of the last ones, say how many there are: features: %d", max(set.X.Cols(), first.X.Cols()))
	}
	return fmt.Errorf("%s has %d features and %s has %d; %s", party, set.X.Cols(), leader, first.X.Cols(), advice)
}

// spellings refuses classes of several parties that differ only by case, blanks or
// Unicode form.
func spellings(who map[string]string) error {
	classes := make([]string, 0, len(who))
	for class := range who {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	one, other, clash := spell.Clash(classes)
	if !clash {
		return nil
	}
	return &heading.ClassError{Class: one, Member: who[one], OtherClass: other, OtherMember: who[other]}
}
