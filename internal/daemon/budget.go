package daemon

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/approved"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/privacy"
)

// TableBudget is the privacy budget of a table, with its account.
type TableBudget struct {
	Table  string
	Listed bool              // whether the catalogue has the table; if not, only the ledger has it
	Budget privacy.Guarantee // zero if the policy sets none
	disclosure.Account
	Payers map[string]audit.Payer // the jobs of all spendings of the home, by ID of the spending, if the record has them
}

// Budgets returns the privacy budgets of the catalogue's tables, and the accounts of tables that the catalogue has no
// more. It leaves out tables with neither.
func (h Home) Budgets(jobs *job.Reader) (list []TableBudget, err error) {
	c, err := h.Config(jobs)
	if err != nil {
		return nil, err
	}
	read, err := h.Dictionaries().List()
	if err != nil {
		return nil, err
	}
	recorded, err := h.recordedNoise()
	if err != nil {
		return nil, err
	}
	payers, err := audit.Payers(h.AuditPath(), string(method.ReleaseNoise))
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool) // spendings that are listed under a table
	for _, name := range slices.Sorted(maps.Keys(c.Data)) {
		one := TableBudget{Table: name, Listed: true, Budget: c.policyOf(c.Data[name]).Privacy}
		if one.Account, err = h.Releases().Account(name, c.knownBy(h, name, read), recorded); err != nil {
			return nil, err
		}
		for _, s := range one.Spendings {
			found[s.ID] = true
		}
		if one.Budget != (privacy.Guarantee{}) || len(one.Spendings) > 0 {
			list = append(list, one)
		}
	}
	gone, err := h.goneTables(found, recorded)
	list = append(list, gone...)
	for i := range list {
		list[i].Payers = payers
		list[i].order()
	}
	return list, err
}

// order sorts the spendings by their times, and then by the names of the jobs. A spending without a time in the audit
// record counts as made at the beginning of its day, and before all others if it has no day.
func (b *TableBudget) order() {
	when := func(s disclosure.Spending) time.Time {
		if p, known := b.Payers[s.ID]; known {
			return p.Time
		}
		day, _ := time.Parse(time.DateOnly, s.Day) // zero for a reservation, which has no day
		return day
	}
	slices.SortStableFunc(b.Spendings, func(x, y disclosure.Spending) int {
		return cmp.Or(when(x).Compare(when(y)), strings.Compare(x.Job, y.Job))
	})
}

// goneTables returns the accounts of tables whose spendings are in the ledger but not in found. It adds the IDs of
// these spendings to found.
func (h Home) goneTables(found map[string]bool, recorded []string) (list []TableBudget, err error) {
	entries, err := h.Releases().Noisy()
	if err != nil {
		return nil, err
	}
	for _, s := range entries {
		if found[s.ID] || s.Table == "" {
			continue
		}
		one := TableBudget{Table: s.Table}
		if one.Account, err = h.Releases().Account(s.Table, nil, recorded); err != nil {
			return nil, err
		}
		for _, of := range one.Spendings {
			found[of.ID] = true
		}
		list = append(list, one)
	}
	return list, nil
}

// knownBy returns the further names by which the ledger knows a table of the catalogue: the name of the table's source
// (see whence), and the names of the dictionaries that the list of approvals has for the table.
func (c *Config) knownBy(h Home, table string, read []approved.Approval) (names []string) {
	if from := c.whence(h, table); from != "" {
		names = append(names, from)
	}
	for _, a := range read {
		if a.Table == table {
			names = append(names, party.ByDictionary(a.Name))
		}
	}
	return names
}

// whence names the file, the database or the program from which a table is read. Two tables of one file, database or
// program have one name, whatever they read of it, because they can be about the same people. A PostgreSQL database
// stands under the name of the environment variable with its address. A table that the catalogue does not have has the
// name "".
func (c *Config) whence(h Home, table string) string {
	s, err := c.source(h, table)
	if err != nil {
		return ""
	}
	switch {
	case s.SQL != nil && s.SQL.SQLite != "":
		return "file " + h.resolved(s.SQL.SQLite)
	case s.SQL != nil:
		return "database of " + s.SQL.DSNEnv
	case s.Given():
		return "program " + h.resolved(s.Command[0])
	}
	return "file " + h.resolved(s.Path)
}

// resolved returns an absolute path, without symbolic links if the path exists. A relative path starts at the home.
func (h Home) resolved(path string) string {
	if !filepath.IsAbs(path) {
		path = h.path(path)
	}
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		path = followed
	}
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return path
}

// recordedNoise returns the IDs of the releases with noise that the ledger must have, from the audit record. See
// [audit.Noise].
func (h Home) recordedNoise() ([]string, error) {
	return audit.Noise(h.AuditPath())
}

// SettleBudget records how much of each privacy budget was spent by jobs that the home does not know. Zero means that
// they have spent nothing. The audit record gets the statement as a decision of the user of this process.
func (h Home) SettleBudget(jobs *job.Reader, spent privacy.Guarantee) error {
	if spent != (privacy.Guarantee{}) {
		if err := spent.Check(); err != nil {
			return fault.BadInput(err)
		}
	}
	record, by, err := h.decision(jobs)
	if err != nil {
		return err
	}
	return h.Releases().Settle(spent, func(id string) error {
		e := audit.Event{Kind: audit.BudgetSettled, By: &by, Outcome: "unknown jobs have spent nothing"}
		if id != "" {
			e.Outcome = fmt.Sprintf("unknown jobs have spent epsilon %g at delta %g of each table", spent.Epsilon, spent.Delta)
			e.Releases = []audit.Release{{Kind: string(method.ReleaseNoise), ID: id, Epsilon: spent.Epsilon, Delta: spent.Delta}}
		}
		return record.Append(e)
	})
}
