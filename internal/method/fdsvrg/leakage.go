package fdsvrg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// leakage describes in plain words what each role learns, computed for this job.
func leakage(c method.Case, rows int) map[string][]string {
	first := c.Parties[0]
	_, course := learner.CourseOf(c.Job)
	active := fmt.Sprintf("%s, who holds the labels, learns the margin of each of %d rows over all columns, of training rows twice in each of %d epochs. Each step's margins tell something of the products of rows over the others' columns. If it sends slopes of its choice, it reads any such product.", first, rows, course.Iterations)
	if len(c.Parties) == 2 {
		active += fmt.Sprintf(" With two parties, these are the margins of %s alone, after taking its own off.", c.Parties[1])
	}
	lines := map[string][]string{
		"active":    {active, columns.KeptScores},
		"server":    {"The server learns how many rows are common to all, how many columns each party has, a bound of each party's norms, and the figures on held-out rows. It sees no margin, label, decision or weight."},
		"party":     {"Every party learns the label of every training row, from the first slopes. A party with others below it in the tree sees the sums of their margins in the clear.", "Every party learns how many rows are common to all, how many columns each other party has, and, to 9 %, the largest squared norm of its rows."},
		"coalition": {"Parties above and below another one in the tree know its margins alone. Protocol fdskl masks what it adds up."},
		"broker":    {"The broker sees who talks, when and how much: from the sizes it knows the number of rows."},
	}
	columns.Leakage(lines, c.Job, rows)
	return lines
}
