package rows

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/method"
)

// heldOutLeakage tells what is learnt by a job that says itself which rows are held out.
func heldOutLeakage(c method.Case) map[string][]string {
	party := c.Job.Data.Test.Party
	if party == "" {
		return nil
	}
	return map[string][]string{
		"server": {fmt.Sprintf("The job holds out all rows of %s: its figures are over these rows alone, and tell how well the model of the others serves %s.", party, party)},
		"party":  {fmt.Sprintf("Whoever reads the result learns how the rows of %s differ from the others' in what the model gets right.", party)},
	}
}
