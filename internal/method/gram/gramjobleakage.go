package gram

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
)

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage() map[string][]string {
	p := s.Layout
	lines := map[string][]string{
		"server": {
			s.ProductsRead() + " The server does not learn how much one party's columns add.",
			s.LatticeReads(),
		},
		"party": {
			"Every party learns each other party's number of rows and columns, a power of two that bounds its values, and whether they are whole numbers. " + sumHidden,
		},
		"coalition": {s.coalition(), "Another job over the same rows that differs by one column gives the server that column up to sign. Each party's release ledger blocks such a job until the party's operator approves it."},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of rows."},
	}
	s.LabelLeakage(lines)
	columns.Leakage(lines, s.Job, p.Training()+p.HeldOut())
	if s.rowless != nil {
		lines["server"] = append(lines["server"], fmt.Sprintf("For every new row of a query the server learns its products with the model's %d rows and with itself, and the prediction.", s.rowless.Rows()))
		lines["party"] = append(lines["party"],
			fmt.Sprintf("Every party learns which training rows are in the model, %d of %d: for a support vector machine those at the border between classes. It keeps its own columns of these rows until its operator or the coordinator's operator erases them (mercer job forget).", s.rowless.Rows(), p.Training()),
			queriesTell,
		)
	}
	return lines
}

// Sentences of the statement that say who can reconstruct rows.
const (
	sumHidden   = "A party learns nothing about the sum of the Gram matrices, which the server gets."
	queriesTell = "The member that queries learns the predictions, and from enough of them something about the others' columns of these rows."
)

// exposures returns how much of others' rows each role can reconstruct.
func (s *server) exposures() map[string]protocol.Exposure {
	server := protocol.Exposure{Reach: protocol.ReachPart, Why: columns.DistancesKnown}
	if s.Layout.Training() >= s.Declared.Width() || s.ReadsAll() {
		server.Why = s.LatticeReads()
	}
	if s.ReadsAll() {
		server.Reach = protocol.ReachAll
	}
	coalition := protocol.Exposure{Reach: protocol.ReachPart, Why: s.coalition()}
	if s.ReadsOne() {
		coalition.Reach = protocol.ReachAll
	}
	party := protocol.Exposure{Reach: protocol.ReachNone, Why: sumHidden}
	if s.rowless != nil {
		party = protocol.Exposure{Reach: protocol.ReachPart, Why: queriesTell}
	}
	return map[string]protocol.Exposure{"server": server, "party": party, "coalition": coalition}
}

// coalition names the members that together learn the products over one party's columns.
func (s *server) coalition() string {
	if len(s.Parties) == 2 {
		return fmt.Sprintf("With two parties, %s and the server together learn the products over the columns of %s by subtracting their own part, and the other way round.%s", s.Parties[0], s.Parties[1], s.LatticeReadsOne())
	}
	return fmt.Sprintf("The server and all parties but one (of %s) together learn the products over the remaining party's columns by subtracting their own.%s", strings.Join(s.Parties, ", "), s.LatticeReadsOne())
}
