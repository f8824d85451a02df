package gram

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage() map[string][]string {
	p := s.Layout
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns the products of all %d training rows with each other and with %d held-out rows, summed over the columns of all %d parties, as exact multiples of 2^-%d. They give every distance between two training rows. The server does not learn how much one party's columns add.",
				p.Training(), p.HeldOut(), len(s.Parties), 2*p.Scale()),
			s.lattice(),
		},
		"party": {
			"Every party learns each other party's number of rows and columns, a power of two that bounds its values, and whether they are whole numbers. It learns nothing about the sum.",
		},
		"coalition": {s.coalition(), "Another job over the same rows that differs by one column gives the server that column up to sign. Each party's release ledger blocks such a job until the party's operator approves it."},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of rows."},
	}
	if s.Job.Data.Label != job.NoLabel {
		lines["server"] = append(lines["server"], fmt.Sprintf("The server learns the label of every row, from %s; the other parties do not.", s.Parties[0]))
		lines["party"] = append(lines["party"], "The other parties learn the size of the list of labels, which depends on the number of classes and the length of their names.")
	}
	columns.Leakage(lines, s.Job, p.Training()+p.HeldOut())
	if s.rowless != nil {
		lines["server"] = append(lines["server"], fmt.Sprintf("For every new row of a query the server learns its products with the model's %d rows and with itself, and the prediction.", s.rowless.Rows()))
		lines["party"] = append(lines["party"],
			fmt.Sprintf("Every party learns which training rows are in the model, %d of %d: for a support vector machine those at the border between classes. It keeps its own columns of these rows until its operator or the coordinator's operator erases them (mercer job forget).", s.rowless.Rows(), p.Training()),
			"The member that queries learns the predictions, and from enough of them something about the others' columns of these rows.",
		)
	}
	return lines
}

// lattice returns the sentence that says whether the Gram matrix can reveal the data.
func (s *server) lattice() string {
	width, rows := 0, s.Layout.Training()
	for _, one := range s.Declared.List {
		width += one.Columns.Columns
	}
	switch {
	case rows < width:
		return fmt.Sprintf("There are fewer training rows (%d) than columns (%d): the matrix does not determine the columns.", rows, width)
	case s.facts.Grid == method.AllGrid:
		return fmt.Sprintf("All values are on a grid (whole numbers, counts, codes), and %d training rows outnumber %d columns: a lattice attack on the exact matrix can recover every column, up to order and sign.", rows, width)
	case s.facts.Grid == method.SomeGrid:
		return fmt.Sprintf("Some columns are on a grid, and %d training rows outnumber %d columns: the exact matrix reveals much about them, and a lattice attack may recover them.", rows, width)
	}
	return fmt.Sprintf("%d training rows outnumber %d columns: the matrix determines all columns up to one rotation, and anyone who knows as many rows as there are columns knows that rotation.", rows, width)
}

// coalition says which members together learn the products over one party's columns.
func (s *server) coalition() string {
	if len(s.Parties) == 2 {
		return fmt.Sprintf("With two parties, %s and the server together learn the products over the columns of %s by subtracting their own part, and the other way round.", s.Parties[0], s.Parties[1])
	}
	return fmt.Sprintf("The server and all parties but one (of %s) together learn the products over the remaining party's columns by subtracting their own.", strings.Join(s.Parties, ", "))
}
