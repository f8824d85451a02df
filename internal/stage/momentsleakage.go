package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// rowsPerFeature is how many training rows there should be for each feature of
// the sums; below it, membership of the rows shows.
const rowsPerFeature = 20

// momentsLeakage says in plain words what each role learns, computed for this
// job.
func (s *Server) momentsLeakage() map[string][]string {
	m, n, c := s.Job.Protocol.Directions, s.moments.sums.Rows, len(s.Job.Protocol.Classes)
	lines := map[string][]string{
		"server": {
			fmt.Sprintf("The server learns sums over the training rows of all %d parties, and no party's own: %d products of features, %d sums of features by class, the number of rows (%d). No value that belongs to two rows is ever formed.",
				len(s.Cast.Parties), m*(m+1)/2, m*c, n),
			s.ratio(),
			fmt.Sprintf("Of the held-out rows it learns their number and, for each of %d values of alpha, how many are decided rightly and the squared error of each class, over all parties; and the mean of the parties' membership figures.", len(s.moments.path)),
			"An exact sum is no anonymity: whoever holds it and knows somebody's row can guess whether it is in. Another job on the same rows but one person would give that person's features; nothing here keeps count of such jobs yet.",
		},
		"party": {"Every party learns the solutions for all values of alpha and the public directions: all that is needed to predict. It does not learn the sums."},
		"coalition": {
			"The server and all parties but one learn that one's sums by taking off their own. With two parties, the other one and the server suffice.",
			s.measuredMembership(),
		},
		"broker": {"The broker sees who talks, when and how much: from the sizes it knows the number of features, of classes and of values of alpha."},
	}
	if s.Job.Data.Scale == job.None {
		return lines
	}
	facts := scale.Facts{Method: scale.Method(s.Job.Data.Scale), Leader: s.Cast.Parties[0], Parties: len(s.Cast.Parties)}
	for role, more := range scale.Leakage(facts) {
		lines[role] = append(lines[role], more...)
	}
	return lines
}

// ratio says how far the sums are from single rows.
func (s *Server) ratio() string {
	m, n := s.Job.Protocol.Directions, s.moments.sums.Rows
	per := float64(n) / float64(m)
	if per >= rowsPerFeature {
		return fmt.Sprintf("There are %.2f training rows for each feature (n/M = %d/%d).", per, n, m)
	}
	return fmt.Sprintf("There are only %.2f training rows for each feature (n/M = %d/%d): the fewer, the better the sums tell whether a known row is among them. Directions of at most %d would leave %d rows for each.",
		per, n, m, n/rowsPerFeature/2*2, rowsPerFeature)
}

// measuredMembership is what the parties found out about their own sums.
func (s *Server) measuredMembership() string {
	if s.moments.measured == 0 {
		return "No party holds rows out to try the membership attack with."
	}
	return fmt.Sprintf("Measured: with one party's sums laid bare, as against such a coalition, the leverage of a row tells that party's training rows from its held-out rows with an area under the curve of %.3f, the mean of %d parties (0.5 is blind, 1 certain). The sums of all are of more rows.",
		s.moments.membership, s.moments.measured)
}
