package cli

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/node/admin"
)

// forgetResult lists what was erased of a job, and where.
type forgetResult struct {
	Job string `json:"job"`
	admin.Forgotten
}

// Print lists the erased items of each process, and the parties that have not answered.
func (r forgetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	where := "here"
	if r.Everywhere {
		where = "at the coordinator"
	}
	p.linef("job %s", r.Job)
	p.linef("%s: %s", where, erasedText(r.Erased))
	for _, name := range slices.Sorted(maps.Keys(r.Parties)) {
		p.linef("at %s, as it says: %s", name, erasedText(r.Parties[name]))
	}
	if len(r.Silent) > 0 {
		p.linef("no word yet from %s: told as soon as its daemon runs", strings.Join(r.Silent, ", "))
	}
	if !r.Everywhere {
		p.linef("other members keep their parts of the job; mercer job forget in the home of the coordinator erases all parts")
	}
	return p.err
}

func erasedText(items []string) string {
	if len(items) == 0 {
		return "there was nothing to erase"
	}
	return "erased " + strings.Join(items, ", ")
}

// dropped names a job that a party has ended.
type dropped struct {
	Job string `json:"job"`
}

// Print explains the consequence for the others.
func (r dropped) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("the secrets of job %s are destroyed here; it cannot go on without this party", r.Job)
	return p.err
}
