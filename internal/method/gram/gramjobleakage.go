package gram

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// leakage describes in plain words what each role learns, computed for this job.
func (s *server) leakage() map[string][]string {
	p := s.Layout
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns the products of all %d training rows with each other and with %d held-out rows, summed over the columns of all %d parties, exactly in multiples of 2^-%d; from them every distance between two training rows. What one party's columns add it does not learn.",
				p.Training(), p.HeldOut(), len(s.Parties), 2*p.Scale()),
			s.lattice(),
		},
		"party": {
			"Every party learns of each other how many rows and columns it has, a power of two that bounds its values, and whether they are whole numbers. It learns nothing of the sum.",
		},
		"coalition": {s.coalition(), "Another job over the same rows that differs by one column gives the server that column up to sign; each party's release ledger holds such a job until its operator approves it."},
		"broker":    {"The broker sees who talks, when and how much: from the sizes it knows the number of rows."},
	}
	if s.Job.Data.Label != job.NoLabel {
		lines["server"] = append(lines["server"], fmt.Sprintf("The server learns the label of every row, from %s; the other parties do not.", s.Parties[0]))
		lines["party"] = append(lines["party"], "The others learn how long the list of labels is: how many classes it has, with the length of their names.")
	}
	columns.Leakage(lines, s.Job, p.Training()+p.HeldOut())
	if s.rowless != nil {
		lines["server"] = append(lines["server"], fmt.Sprintf("Of every new row that somebody asks about it learns the products with the model's %d rows and with itself, and what the model says.", s.rowless.Rows()))
		lines["party"] = append(lines["party"],
			fmt.Sprintf("Every party learns which training rows are in the model, %d of %d: of a support vector machine those at the border between classes. It keeps its own columns of them until its operator or the coordinator's has it forget (mercer job forget).", s.rowless.Rows(), p.Training()),
			"Who asks learns what the model says, and from enough answers something of the others' columns of these rows.",
		)
	}
	return lines
}

// lattice describes whether the matrix can give away the data.
func (s *server) lattice() string {
	width, rows := 0, s.Layout.Training()
	for _, one := range s.Declared.List {
		width += one.Columns.Columns
	}
	switch {
	case rows < width:
		return fmt.Sprintf("There are fewer training rows (%d) than columns (%d): the matrix does not determine the columns.", rows, width)
	case s.facts.Grid == method.AllGrid:
		return fmt.Sprintf("All values lie on a grid (whole numbers, counts, codes), and %d training rows outnumber %d columns: the exact matrix can give every column, up to order and sign, to whoever runs a lattice attack on it.", rows, width)
	case s.facts.Grid == method.SomeGrid:
		return fmt.Sprintf("Some columns lie on a grid, and %d training rows outnumber %d columns: the exact matrix says much about them, and a lattice attack may give them.", rows, width)
	}
	return fmt.Sprintf("%d training rows outnumber %d columns: the matrix determines all columns up to one rotation, and whoever knows as many rows as there are columns knows that rotation.", rows, width)
}

// coalition names the members who together see one party's columns.
func (s *server) coalition() string {
	if len(s.Parties) == 2 {
		return fmt.Sprintf("With two parties, %s and the server together know the products over the columns of %s alone, and the other way round: they take off their own.", s.Parties[0], s.Parties[1])
	}
	return fmt.Sprintf("The server and all parties but one (%s) know the products over that one's columns alone, by taking off their own.", strings.Join(s.Parties, ", "))
}
