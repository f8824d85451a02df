package party

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/gram"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// refusal is the reason by which a policy refuses a job, "" for none.
func refusal(p Policy, j *job.Job) string {
	if err := p.Check(j, 3); err != nil {
		return err.Error()
	}
	return ""
}

// A policy that says nothing of ids allows as many as jobs have by default, and no more.
func TestPolicyWithoutABoundOfIDs(t *testing.T) {
	for _, tt := range []struct {
		ids, most int
		want      string
	}{
		{1 << 20, 0, ""},
		{1<<20 + 1, 0, "the job lets each party look up 1048577 ids, this party allows 1048576; lower the protocol's max_ids"},
		{1<<20 + 1, 1<<20 + 1, ""},
		{1 << 20, 1<<20 - 1, "the job lets each party look up 1048576 ids, this party allows 1048575; lower the protocol's max_ids"},
	} {
		j := byColumns(t, "none")
		job.As[*gram.Keys](j.Protocol).MaxIDs = tt.ids
		if err := all.Reader().Validate(j); err != nil {
			t.Fatal(err)
		}
		p := opened()
		p.Limits.MaxIDs = strictyaml.Positive(tt.most)
		if got := refusal(p, j); got != tt.want {
			t.Errorf("%d ids, and %d are allowed: %q, want %q", tt.ids, tt.most, got, tt.want)
		}
	}
	if p := usual(); p.idsTotal() != 10<<20 {
		t.Errorf("%d ids over all sessions where a policy says nothing", p.idsTotal())
	}
}

// The adversary is a coordinator that decides what is the home's decision: columns with bounds, of
// which two jobs reveal who lies between; classes, whose refusals and sums reveal a rare one; the range
// of a number, whose refusals reveal the largest; a fraction, whose difference reveals few. Each is
// refused before the table is read, in all cases, and leaves nothing in the ledger.
func TestAttackAJobSpeaksForTheHome(t *testing.T) {
	const rowsAndCells, ofLabels, ofFraction = "the job itself describes the columns, which each party's operator must approve",
		"the job itself gives the classes of the label, the merging of classes or the range of the label's numbers, which each party's operator must approve",
		"all jobs over a table without a dictionary hold out 0.25"
	sums := func(keys, learner string) *strings.Replacer {
		return strings.NewReplacer("{name: okra}", "{name: moments, directions: 8"+keys+"}", "{name: svc, C: 10}", learner)
	}
	data := func(keys string) *strings.Replacer { return strings.NewReplacer("scale:", keys+"\n    scale:") }
	label := func(keys string) *strings.Replacer {
		return strings.NewReplacer("label: label", "label: {column: label, "+keys+"}")
	}
	for name, tt := range map[string]struct {
		says *strings.Replacer
		want string
	}{
		"columns":              {data("schema: {krea: {range: [1, 400]}, age: {range: [0, 120]}}"), rowsAndCells},
		"gaps filled":          {data("schema: {krea: {range: [1, 400]}, age: {range: [0, 120], missing: mean}}"), rowsAndCells},
		"rows with gaps":       {data("schema: {krea: {range: [1, 400]}, age: {range: [0, 120], missing: drop-row}}"), rowsAndCells},
		"rows outside":         {data("schema: {krea: {range: [1, 400]}, age: {range: [0, 120], outside: missing, missing: drop-row}}"), rowsAndCells},
		"cells outside":        {data("schema: {krea: {range: [1, 400]}, age: {range: [0, 120], outside: clip}}"), rowsAndCells},
		"a dictionary":         {data("dictionary: {columns: {krea: {range: [1, 400]}, age: {range: [0, 120]}}, labels: {label: {}}}"), rowsAndCells},
		"a dictionary, filled": {data("dictionary: {columns: {krea: {range: [1, 400]}, age: {range: [0, 120], missing: mean}}, labels: {label: {}}}"), rowsAndCells},
		"merged classes":       {data("classes: {ill: [mild, severe]}"), ofLabels},
		"listed classes":       {label(`classes: ["0", "1"]`), ofLabels},
		"classes of sums":      {sums(`, classes: ["0", "1"]`, "{name: ridge-classifier, alpha: 1}"), ofLabels},
		"range of sums":        {sums(", targets: [0, 96]", "{name: ridge, alpha: 1}"), ofLabels},
		"a fraction":           {data("test: {fraction: 0.3}"), ofFraction},
		"half of the rows":     {data("test: {fraction: 0.5}"), ofFraction},
	} {
		t.Run(name, func(t *testing.T) {
			policy := usual()
			policy.Filters = true // of an earlier version
			s := newFixture(t, policy)
			s.propose(s.proposal(jobtest.Parse(t, tt.says.Replace(fmt.Sprintf(jobFile, "none", "{name: okra}", "closed"))), job.ID{1}, 0))
			s.refuses(fault.CodePolicy, tt.want)
			if s.loads.Load() != 0 || len(s.ledger()) != 0 {
				t.Errorf("the table was read %d times, ledger %v", s.loads.Load(), s.ledger())
			}
		})
	}
}

// Rows in two views reveal the columns of a small view, and need the policy's permission.
func TestViewsNeedLeave(t *testing.T) {
	j := jobtest.Parse(t, strings.NewReplacer("{name: svc, C: 10}", "{name: cca, view: [a]}", "label: label", "label: none", "{name: rbf, gamma: 0.5}", "{name: linear}").
		Replace(fmt.Sprintf(jobFile, "minmax", "{name: okra}", "closed")))
	if got := refusal(usual(), j); !strings.Contains(got, `"views" in its policy`) {
		t.Errorf("%q", got)
	}
	allowing := usual()
	allowing.Views = true
	if got := refusal(allowing, j); got != "" {
		t.Errorf("%q, and views are allowed", got)
	}
}
