package ppsvmv

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// leakage describes in plain words what each role learns, computed for this job.
func (s *server) leakage() map[string][]string {
	p, first := s.Layout, s.Parties[0]
	lines := map[string][]string{
		"server": {fmt.Sprintf("The server learns the products of all %d training rows with each other and with %d held-out rows, summed over the columns of all %d parties, exactly in multiples of 2^-%d; from them every distance between two training rows.",
			p.Training(), p.HeldOut(), len(s.Parties), 2*p.Scale())},
		"party": {
			fmt.Sprintf("%s learns all that the server learns of the products: the sum comes back to it.", first),
			"Every party learns of each other how many rows and columns it has, a power of two that bounds its values, and whether they are whole numbers. A party other than the first sees words under a mask, and learns nothing from them alone.",
		},
		"coalition": {s.between(), "Protocol gram adds up the same matrices and has no such neighbours."},
		"broker":    {"The broker sees who talks, when and how much: from the sizes it knows the number of rows."},
	}
	if s.Job.Data.Label != job.NoLabel {
		lines["server"] = append(lines["server"], fmt.Sprintf("The server learns the label of every row, from %s; the other parties do not.", first))
		lines["party"] = append(lines["party"], "The others learn how long the list of labels is: how many classes it has, with the length of their names.")
	}
	columns.Leakage(lines, s.Job, p.Training()+p.HeldOut())
	return lines
}

// between names the parties that read another one between them.
func (s *server) between() string {
	if len(s.Parties) == 2 {
		return fmt.Sprintf("With two parties, %s alone reads the products over the columns of %s: it takes its own off the sum. The server and %[2]s read those of %[1]s.", s.Parties[0], s.Parties[1])
	}
	var list []string
	for i := 1; i < len(s.Parties); i++ {
		list = append(list, fmt.Sprintf("%s and %s read %s", s.Parties[i-1], s.Parties[(i+1)%len(s.Parties)], s.Parties[i]))
	}
	return fmt.Sprintf("Two neighbours in the ring that work together read the products over the columns of the party between them, exactly: %s. The server and all parties but %s read that one's.", strings.Join(list, "; "), s.Parties[0])
}
