package party

import (
	"fmt"
	"strings"
	"testing"

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
		{1<<20 + 1, 0, "the job lets each party look for 1048577 ids, this party allows 1048576; lower the protocol's max_ids"},
		{1<<20 + 1, 1<<20 + 1, ""},
		{1 << 20, 1<<20 - 1, "the job lets each party look for 1048576 ids, this party allows 1048575; lower the protocol's max_ids"},
	} {
		j := byColumns(t, "none")
		job.As[*gram.Keys](j.Protocol).MaxIDs = tt.ids
		if err := all.Reader().Validate(j); err != nil {
			t.Fatal(err)
		}
		p := opened()
		p.MaxIDs = tt.most
		if got := refusal(p, j); got != tt.want {
			t.Errorf("%d ids, and %d are allowed: %q, want %q", tt.ids, tt.most, got, tt.want)
		}
	}
	if p := usual(); p.idsTotal() != 10<<20 {
		t.Errorf("%d ids over all sessions where a policy says nothing", p.idsTotal())
	}
}

// The adversary is a coordinator that writes schemas: two of them that leave rows out by a bound tell
// who lies between. A policy that says nothing of filters refuses the first.
func TestAttackFiltersAreRefused(t *testing.T) {
	const refused = `the job's schema chooses rows or numbers by their values (%s of column "age"), which this party allows to no job (filters in its policy)`
	for filter, what := range map[string]string{
		"": "", ", missing: mean": "", ", outside: refuse": "",
		", missing: drop-row": "missing: drop-row", ", outside: missing, missing: drop-row": "missing: drop-row",
		", outside: missing, missing: mean": "outside: missing", ", outside: clip": "outside: clip",
	} {
		j := jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, "minmax", "{name: okra}", "closed"), "scale:", "schema: {krea: {range: [1, 400]}, age: {range: [0, 120]"+filter+"}}\n    scale:", 1))
		want := ""
		if what != "" {
			want = fmt.Sprintf(refused, what)
		}
		if got := refusal(usual(), j); got != want {
			t.Errorf("%q: %q, want %q", filter, got, want)
		}
		allowing := usual()
		allowing.Filters = true
		if got := refusal(allowing, j); got != "" {
			t.Errorf("%q: %q, and filters are allowed", filter, got)
		}
	}
}

// Rows in two views tell the columns of a small view, and need the policy's word.
func TestViewsNeedLeave(t *testing.T) {
	j := jobtest.Parse(t, strings.NewReplacer("{name: svc, C: 10}", "{name: cca, view: [a]}", "label: label", "label: none", "{name: rbf, gamma: 0.5}", "{name: linear}").
		Replace(fmt.Sprintf(jobFile, "minmax", "{name: okra}", "closed")))
	if got := refusal(usual(), j); !strings.Contains(got, "views in its policy") {
		t.Errorf("%q", got)
	}
	allowing := usual()
	allowing.Views = true
	if got := refusal(allowing, j); got != "" {
		t.Errorf("%q, and views are allowed", got)
	}
}
