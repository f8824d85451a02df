package stage

import (
	"fmt"
	"io"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// verticalServer is what the coordinator has of a job between holders of
// columns.
type verticalServer struct {
	declared declared
	layout   gram.Params
	task     learner.Problem // training rows before held-out rows, in the common order
	finding  finding         // of protocol fdskl
	basis    Basis           // of the model, where it is kept

	// Of protocol gram.
	rowless *model.Rowless // where predictions are open
	answer  linalg.Matrix[float64]
}

// encodeGram writes the model: functions of the kernel with training rows, which
// are named by their places in the common order. Rows are nowhere in it, and it
// predicts nothing without their products with new ones.
func (s *Server) encodeGram(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/gram")
	w.Fixed(s.vertical.declared.digest[:])
	k, h := s.choice.Job.Kernel.Spec(), s.fitted.Head
	w.String(k.Name)
	for _, v := range []float64{k.Gamma, k.Coef0, float64(k.Degree), k.Alpha, k.LengthScale, k.Nu, h.Noise, h.Unit} {
		w.Float64(v)
	}
	w.String(string(h.Kind))
	w.Strings(h.Classes)
	w.Uint32(uint32(len(h.Functions)))
	for _, f := range h.Functions {
		w.Float64(f.Rho)
		w.Uint32(uint32(len(f.Index)))
		for i, at := range f.Index {
			w.Uint32(uint32(s.fitted.Support[at]))
			w.Float64(f.Coef[i])
		}
	}
	w.Uint32(uint32(len(h.Sigmoids)))
	for _, g := range h.Sigmoids {
		w.Float64(g.A)
		w.Float64(g.B)
	}
	_, err := out.Write(w.Bytes())
	return err
}

// gramLeakage says in plain words what each role learns, computed for this job.
func (s *Server) gramLeakage(f method.Facts) map[string][]string {
	p, parties := s.vertical.layout, s.Cast.Parties
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns the products of all %d training rows with each other and with %d held-out rows, summed over the columns of all %d parties, exactly in multiples of 2^-%d; from them every distance between two training rows. What one party's columns add it does not learn.",
				p.Training(), p.HeldOut(), len(parties), 2*p.Scale()),
			s.gramLattice(f),
		},
		"party": {
			"Every party learns of each other how many rows and columns it has, a power of two that bounds its values, and whether they are whole numbers. It learns nothing of the sum.",
		},
		"coalition": {s.gramCoalition(), "Another job over the same rows that differs by one column gives the server that column up to sign; each party's release ledger holds such a job until its operator approves it."},
		"broker":    {"The broker sees who talks, when and how much: from the sizes it knows the number of rows."},
	}
	if s.Job.Data.Label != job.NoLabel {
		lines["server"] = append(lines["server"], fmt.Sprintf("The server learns the label of every row, from %s; the other parties do not.", parties[0]))
		lines["party"] = append(lines["party"], "The others learn how long the list of labels is: how many classes it has, with the length of their names.")
	}
	for role, more := range alignLeakage(s.Job, len(parties), p.Training()+p.HeldOut()) {
		lines[role] = append(lines[role], more...)
	}
	addInquiries(lines, s.Job, s.vertical.basis.Rows, p.Training())
	return lines
}

// gramLattice says whether the matrix can be the data.
func (s *Server) gramLattice(f method.Facts) string {
	columns, rows := 0, s.vertical.layout.Training()
	for _, one := range s.vertical.declared.list {
		columns += one.columns.Columns
	}
	switch {
	case rows < columns:
		return fmt.Sprintf("There are fewer training rows (%d) than columns (%d): the matrix does not determine the columns.", rows, columns)
	case f.Grid == method.AllGrid:
		return fmt.Sprintf("All values lie on a grid (whole numbers, counts, codes), and %d training rows outnumber %d columns: the exact matrix can give every column, up to order and sign, to whoever runs a lattice attack on it.", rows, columns)
	case f.Grid == method.SomeGrid:
		return fmt.Sprintf("Some columns lie on a grid, and %d training rows outnumber %d columns: the exact matrix says much about them, and a lattice attack may give them.", rows, columns)
	}
	return fmt.Sprintf("%d training rows outnumber %d columns: the matrix determines all columns up to one rotation, and whoever knows as many rows as there are columns knows that rotation.", rows, columns)
}

// gramCoalition says who together see one party's columns.
func (s *Server) gramCoalition() string {
	if len(s.Cast.Parties) == 2 {
		return fmt.Sprintf("With two parties, %s and the server together know the products over the columns of %s alone, and the other way round: they take off their own.", s.Cast.Parties[0], s.Cast.Parties[1])
	}
	return fmt.Sprintf("The server and all parties but one (%s) know the products over that one's columns alone, by taking off their own.", strings.Join(s.Cast.Parties, ", "))
}
