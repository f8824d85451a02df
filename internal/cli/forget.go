package cli

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/node/admin"
)

// forgetResult lists the erased items of a job by member.
type forgetResult struct {
	Job string `json:"job"`
	admin.Forgotten
}

// Print lists the erased items of each member, and the parties that have not reported.
func (r forgetResult) Print(w io.Writer) error {
	p := &printer{w: w}
	where := "here"
	if r.Everywhere {
		where = "at the coordinator"
	}
	p.linef("job %s", r.Job)
	p.linef("%s: %s", where, erasedText(r.Erased))
	for _, name := range slices.Sorted(maps.Keys(r.Parties)) {
		p.linef("at %s, as it reports: %s", name, erasedText(r.Parties[name]))
	}
	if len(r.Silent) > 0 {
		p.linef("no report yet from %s: erases as soon as its daemon runs and the roster has it", strings.Join(r.Silent, ", "))
	}
	if !r.Everywhere {
		p.linef("other members keep their artifacts; mercer job forget in the coordinator's home erases those at all members")
	}
	return p.err
}

func erasedText(items []string) string {
	if len(items) == 0 {
		return "nothing to erase"
	}
	return "erased " + strings.Join(items, ", ")
}

// droppedJob names a job that a party has abandoned.
type droppedJob struct {
	Job string `json:"job"`
}

// Print says that the job cannot continue without this party.
func (r droppedJob) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("the secrets of job %s are destroyed here; the job cannot continue without this party", r.Job)
	return p.err
}
