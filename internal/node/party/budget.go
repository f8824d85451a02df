package party

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/privacy"
)

// knownBy returns names of a job's table besides its name in the catalogue, so that the ledger recognises a table that
// was renamed: the file or the database from which the table is read, and the job's dictionary. No name depends on
// rows.
func (p *Party) knownBy(w *work) (names []string) {
	if p.Whence != nil {
		if from := p.Whence(w.table()); from != "" {
			names = append(names, from)
		}
	}
	if d := w.job.Data.Dictionary; d != nil {
		names = append(names, ByDictionary(d.Name))
	}
	return names
}

// ByDictionary returns the name under which the ledger knows the tables that a dictionary describes. All versions of
// the dictionary give the same name.
func ByDictionary(name string) string { return "dictionary " + name }

// recordedNoise returns the IDs of the releases of noise that the audit record has, as far as the ledger must have
// them.
func (p *Party) recordedNoise() ([]string, error) {
	if p.Noise == nil {
		return nil, nil
	}
	ids, err := p.Noise()
	return ids, fault.Ledger.Of(err)
}

// drawOnce claims the noise of a step of a job for one session. Only the same session, replayed, draws the same noise
// again; another session would draw noise that nobody has paid for.
func (p *Party) drawOnce(r *running) error {
	for _, a := range r.admission {
		if a.kind != method.ReleaseNoise {
			continue
		}
		err := p.Vault.Claim(r.session.ID(), fmt.Sprintf("noise/%s/%d", a.out.Model, r.proposal.Stage))
		var other *journal.HeldError
		switch {
		case errors.As(err, &other):
			return refuse("this party has drawn the noise of stage %s in another session; submit the job again, which pays for other noise", r.step)
		case err != nil:
			return fault.Ledger.Of(err)
		}
	}
	return nil
}

// warnOfVoids says in the log what voids the guarantee of noise over a table that has a privacy budget.
func (p *Party) warnOfVoids(w *work) {
	said, err := p.voids(w)
	if err != nil {
		p.Logger.Warn("could not find out what voids the privacy budget", "table", w.table(), "error", err)
	}
	if said != "" {
		p.Logger.Warn(said, "job", w.id.String(), "table", w.table())
	}
}

// voids says in a sentence that a job and the table's other releases leave no guarantee of privacy, because some have
// noise and others have none. It returns "" if that is not so, and for a table without a privacy budget. The sentence
// is for the operator only.
func (p *Party) voids(w *work) (string, error) {
	policy, err := p.Policy(w.table())
	if err != nil || policy.Own || policy.Privacy == (privacy.Guarantee{}) || len(w.admission) == 0 {
		return "", err
	}
	account, err := p.Releases.Account(w.table(), p.knownBy(w), nil)
	if err != nil {
		return "", err
	}
	exact := slices.ContainsFunc(w.admission, func(a admission) bool { return a.kind != method.ReleaseNoise })
	switch n := len(account.Spendings); {
	case exact && n > 0:
		return fmt.Sprintf("this job adds no noise: what it releases of table %s voids the guarantee of %s with noise (mercer budget show)", w.table(), humanize.Count(n, "release")), nil
	case !exact && len(account.Voids) > 0:
		return fmt.Sprintf("%s of table %s without noise void the guarantee of this job's noise (mercer budget show)", humanize.Count(len(account.Voids), "release"), w.table()), nil
	}
	return "", nil
}
