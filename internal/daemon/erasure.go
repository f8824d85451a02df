package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// Trace lists the releases that have a person's rows, as far as a home can tell.
type Trace struct {
	Releases []Taken  // releases in which the rows took part
	Unknown  []Taken  // releases that the home cannot judge: the rows may or may not have taken part
	Retained []string // ids of those jobs that made a listed release and have left something that the home still keeps
}

// Taken is a release with the jobs that made it. The jobs are from the audit record.
type Taken struct {
	disclosure.Search
	Runs []Run
}

// Run is a job that released something.
type Run struct {
	ID   string    `json:"job"`
	Name string    `json:"name"`
	Time time.Time `json:"time"` // when the first message that has the data was about to leave the home
}

// Trace finds the releases in which a person's rows took part. The person is named as in the tables: each table of the
// catalogue reads the name by its own rule. It changes nothing.
func (h Home) Trace(jobs *job.Reader, person string) (t Trace, err error) {
	c, err := h.Config(jobs)
	if err != nil {
		return t, err
	}
	names := c.namesOf(person)
	if len(names) == 0 {
		return t, fault.BadInputf("no table in %s has an \"id\" or a \"group\" by which it knows this person; look for the rows in the tables themselves", h.ConfigPath())
	}
	found, err := h.Releases().Search(slices.Compact(slices.Sorted(maps.Values(names))))
	if err != nil {
		return t, err
	}
	runs, err := h.runs()
	if err != nil {
		return t, err
	}
	for _, s := range found {
		one := Taken{s, runs[s.ID]}
		switch {
		case s.In:
			t.Releases = append(t.Releases, one)
		case s.People == 0 || !c.tells(s.Table):
			t.Unknown = append(t.Unknown, one)
		}
	}
	t.Retained, err = h.stillKept(slices.Concat(t.Releases, t.Unknown))
	return t, err
}

// namesOf returns the name by which each table that knows people knows a person.
func (c *Config) namesOf(person string) map[string]string {
	names := make(map[string]string)
	for table, s := range c.Data {
		if list, err := s.normalizedNames(table, []string{person}); err == nil && len(list) == 1 {
			names[table] = list[0]
		}
	}
	return names
}

// tells reports whether each of the ledger's digests for a table stands for a person. If the table has a group, a
// digest stands for a row, and a person can have several rows.
func (c *Config) tells(table string) bool {
	s, known := c.Data[table]
	return known && !s.ID.IsZero() && s.Group == ""
}

// runs returns the jobs that have made each release, by the release's ID, from the audit record.
func (h Home) runs() (map[string][]Run, error) {
	runs := make(map[string][]Run)
	_, err := audit.Verify(h.AuditPath(), func(e audit.Event, _ string) error {
		for _, r := range e.Releases {
			known := slices.ContainsFunc(runs[r.ID], func(o Run) bool { return o.ID == e.Job })
			if e.Kind == audit.Released && !known {
				runs[r.ID] = append(runs[r.ID], Run{e.Job, e.Name, e.Time})
			}
		}
		return nil
	})
	return runs, err
}

// stillKept returns the ids of those jobs of the given releases that have left something that the home keeps.
func (h Home) stillKept(of []Taken) (ids []string, err error) {
	artifacts, err := h.artifacts()
	if err != nil {
		return nil, err
	}
	for _, t := range of {
		for _, run := range t.Runs {
			id, err := job.ParseID(run.ID)
			if err != nil {
				continue // the record names no job
			}
			left, err := artifacts.List(id)
			if err != nil {
				return nil, err
			}
			if len(left) > 0 && !slices.Contains(ids, run.ID) {
				ids = append(ids, run.ID)
			}
		}
	}
	return ids, nil
}

// WithdrawEverywhere withdraws a person from every table of the catalogue that has the person, for good. It returns
// the withdrawals by table, and goes on after an error.
func (h Home) WithdrawEverywhere(ctx context.Context, jobs *job.Reader, person string) (done map[string]Withdrawal, err error) {
	c, err := h.Config(jobs)
	if err != nil {
		return nil, err
	}
	done = make(map[string]Withdrawal)
	for _, table := range slices.Sorted(maps.Keys(c.namesOf(person))) {
		one, failed := h.Withdraw(ctx, jobs, table, []string{person})
		var absent *AbsentError
		switch {
		case errors.As(failed, &absent):
		case failed != nil:
			err = errors.Join(err, fmt.Errorf("table %s: %w", table, failed))
		default:
			done[table] = one
		}
	}
	return done, err
}

// recordWithdrawal adds to the record that the person by has withdrawn people from a table, without their names.
func recordWithdrawal(record *audit.Log, by access.Person, table string, done Withdrawal) error {
	return record.Append(audit.Event{
		Kind: audit.Withdrawn, Table: table, By: &by,
		Outcome: fmt.Sprintf("%d named, %d others, %d editions made anew, %d erased", done.People, done.Company, len(done.Editions), len(done.Erased)),
	})
}
