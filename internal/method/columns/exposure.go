package columns

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// DistancesKnown is the sentence of a leakage statement about the distances that follow from inner
// products.
const DistancesKnown = "The inner products of rows give every distance between two training rows."

// Ended stores the parties' facts about their columns; see [method.Binding].
func (s *Learner) Ended(e method.End) { s.Facts = s.Facts.Join(e.Facts) }

// Width returns the number of columns of all parties.
func (d Declared) Width() (columns int) {
	for _, one := range d.List {
		columns += one.Columns.Columns
	}
	return columns
}

// Narrowest returns the number of columns of the party that has the fewest.
func (d Declared) Narrowest() int {
	least := d.Width()
	for _, one := range d.List {
		least = min(least, one.Columns.Columns)
	}
	return least
}

// ReadsAll reports whether a lattice attack on the Gram matrix can read the columns of all parties. The
// attack needs more rows than columns that vary. So with fewer rows than columns the rank of the matrix
// decides.
func (s *Learner) ReadsAll() bool {
	if s.Facts.Grid != method.AllGrid {
		return false
	}
	return s.Layout.Training() >= s.Declared.Width() || s.dependent()
}

// ReadsOne reports whether a lattice attack on the Gram matrix of a single party can read that
// party's columns. The members that subtract the other parties' matrices have this matrix.
func (s *Learner) ReadsOne() bool {
	return s.Facts.Grid == method.AllGrid && (s.Layout.Training() >= s.Declared.Narrowest() || s.dependent())
}

// dependent reports whether some training rows depend on the others.
func (s *Learner) dependent() bool {
	if s.rank == 0 {
		gram := s.Problem.Gram
		gram.Rows, gram.Cols = s.Layout.Training(), s.Layout.Training()
		s.rank = method.RankOf(gram)
	}
	return s.rank < s.Layout.Training()
}

// ProductsRead describes what the server learns from the Gram matrix over the columns of all parties.
func (s *Learner) ProductsRead() string {
	p := s.Layout
	return fmt.Sprintf("The server learns the products of all %d training rows with each other and with %d held-out rows, summed over the columns of all %d parties, as exact multiples of 2^-%d. %s",
		p.Training(), p.HeldOut(), len(s.Parties), 2*p.Scale(), DistancesKnown)
}

// LabelLeakage adds to lines what each role learns from the labels, if the job has any.
func (s *Learner) LabelLeakage(lines map[string][]string) {
	if s.Job.Data.Label == job.NoLabel {
		return
	}
	lines["server"] = append(lines["server"], fmt.Sprintf("The server learns the label of every row, from %s; the other parties do not.", s.Parties[0]))
	lines["party"] = append(lines["party"], "The other parties learn the size of the list of labels, which depends on the number of classes and the length of their names.")
}

// LatticeReads describes how far the Gram matrix over the columns of all parties reveals the columns.
func (s *Learner) LatticeReads() string {
	width, rows := s.Declared.Width(), s.Layout.Training()
	switch {
	case rows < width && s.ReadsAll():
		return fmt.Sprintf("All values are on a grid (whole numbers, counts, codes), and the %d training rows outnumber those of the %d columns that vary: from the exact inner products of all rows (the Gram matrix), which the server learns, a known attack (lattice reduction) can recover every column, up to order and sign.", rows, width)
	case rows < width:
		return fmt.Sprintf("There are fewer training rows (%d) than columns (%d): the inner products of all rows (the Gram matrix), which the server learns, do not determine the columns.", rows, width)
	case s.Facts.Grid == method.AllGrid:
		return fmt.Sprintf("All values are on a grid (whole numbers, counts, codes), and %d training rows outnumber %d columns: from the exact inner products of all rows (the Gram matrix), which the server learns, a known attack (lattice reduction) can recover every column, up to order and sign.", rows, width)
	case s.Facts.Grid == method.SomeGrid:
		return fmt.Sprintf("Some columns are on a grid, and %d training rows outnumber %d columns: the exact inner products of all rows (the Gram matrix), which the server learns, reveal much about them, and a known attack (lattice reduction) may recover them.", rows, width)
	}
	return fmt.Sprintf("%d training rows outnumber %d columns: the inner products of all rows (the Gram matrix), which the server learns, determine all columns up to one rotation, and anyone who knows as many rows as there are columns knows that rotation.", rows, width)
}

// LatticeReadsOne describes the result of a lattice attack on the matrix of a single party. It is "" if
// [Learner.ReadsOne] is false.
func (s *Learner) LatticeReadsOne() string {
	if !s.ReadsOne() {
		return ""
	}
	return " By a lattice attack these products give all values of those columns, up to order and sign, if the rows outnumber the columns that vary."
}
