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

// The adversary is a coordinator that writes columns: two jobs that leave rows out by a bound tell who lies
// between. A job that brings columns of its own is refused, whatever they say.
func TestAttackColumnsOfAJobAreRefused(t *testing.T) {
	for _, filter := range []string{"", ", missing: mean", ", missing: drop-row", ", outside: missing, missing: drop-row", ", outside: clip"} {
		for _, key := range []string{"schema: {krea: {range: [1, 400]}, age: {range: [0, 120]%s}}", "dictionary: {columns: {krea: {range: [1, 400]}, age: {range: [0, 120]%s}}, labels: {label: {}}}"} {
			if strings.Contains(filter, "drop-row") && strings.HasPrefix(key, "dictionary") {
				continue // which the list complete says there
			}
			j := jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, "minmax", "{name: okra}", "closed"), "scale:", fmt.Sprintf(key, filter)+"\n    scale:", 1))
			allowing := usual()
			allowing.Filters = true // of an earlier version
			for _, p := range []Policy{usual(), allowing} {
				if got := refusal(p, j); !strings.Contains(got, "which rows take part, and how cells are read, is the word of each party's operator") {
					t.Errorf("%s%s: %q", key, filter, got)
				}
			}
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
