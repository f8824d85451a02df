package daemon

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/study"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// decides returns the settings of the party that decide whether it accepts a job.
func (h partyHome) decides(ctx context.Context, jobs *job.Reader, claims vault.Vault, artifacts *vault.Artifacts) party.Config {
	return party.Config{
		Name: h.config().Name, Reader: jobs, Identity: h.id, Roster: h.members(), Usage: Usage,
		Policy:   func(table string) (party.Policy, error) { return h.config().policy(h.Home, table) },
		Approved: h.Dictionaries().Approved, Studies: h.Studies(jobs), Releases: h.Releases(),
		Whence: func(table string) string { return h.config().whence(h.Home, table) }, Noise: h.recordedNoise,
		Failure: func(id string) (string, error) { return audit.Failure(h.AuditPath(), id) },
		Vault:   claims, Retained: artifacts.States(), Alignments: artifacts.Of(vault.Aligned),
		Peek: func(d job.Data) (method.Table, error) { return h.load(ctx, h.config(), d, h.key, &peeked{}) },
	}
}

// CheckJob returns the answer that the party of a home would give to a job. It reads the home and changes nothing
// there. The home's daemon need not run.
func CheckJob(ctx context.Context, h Home, jobs *job.Reader, name string, file []byte) (*admin.Checked, error) {
	jobs = h.Knowing(jobs)
	id, c, members, err := h.openJoined(jobs)
	if err != nil {
		return nil, err
	}
	if members.Coordinator().Name == c.Name {
		return nil, fault.BadInputf("%s is the home of the coordinator, which has no policy; give the home of a party", h)
	}
	key, err := h.peekSplitKey()
	if err != nil {
		return nil, err
	}
	claims, err := vault.ReadClaims(h.path("vault"))
	if err != nil {
		return nil, err
	}
	at := partyHome{Home: h, id: id, settings: newInForce(c, members), key: key}
	decides := at.decides(ctx, jobs, claims, vault.ReadArtifacts(h.retained(), id.KEMKey()))
	return at.checker(jobs, func(_ context.Context, j *job.Job) (party.Opinion, error) {
		return party.Check(decides, j), nil
	})(ctx, name, file)
}

// checksWhileRunning returns the function that checks a job file with the party that runs.
func (h partyHome) checksWhileRunning(jobs *job.Reader) admin.Checker {
	return h.checker(jobs, func(ctx context.Context, j *job.Job) (party.Opinion, error) {
		p, err := h.watch.Party()
		if err != nil {
			return party.Opinion{}, err
		}
		return p.Check(ctx, j)
	})
}

// checker returns the function that checks a job file for the operator. opinion forms the party's opinion of a job.
func (h partyHome) checker(jobs *job.Reader, opinion func(context.Context, *job.Job) (party.Opinion, error)) admin.Checker {
	return func(ctx context.Context, name string, file []byte) (*admin.Checked, error) {
		c := &admin.Checked{Party: h.config().Name}
		j, err := jobs.Parse(name, file)
		if errors.Is(err, job.ErrUnapproved) || errors.Is(err, job.ErrStudyUnapproved) {
			return c, h.enterRefusal(c, "", fault.Forbidden(err))
		}
		if err == nil {
			err = coordinator.Complete(j, h.members().Parties())
		}
		if err != nil {
			return nil, fault.BadInput(err)
		}
		c.Job = j.Name
		o, err := opinion(ctx, j)
		if err != nil {
			return nil, err
		}
		c.Undecided = o.Undecided
		if o.AwaitsApproval {
			c.Undecided = append(c.Undecided, `whether the operator approves the job ("approve: each" in the policy)`)
		}
		if o.Voids != "" {
			c.Notes = append(c.Notes, o.Voids)
		}
		if d := j.Data.Dictionary; d != nil && o.Refusal == nil {
			c.Undecided = append(c.Undecided, fmt.Sprintf("whether the coordinator's dictionary %s is the one approved here (%.12s)", d.Name, d.Hash()))
		}
		return c, h.enterRefusal(c, j.Data.Source, o.Refusal)
	}
}

// enterRefusal adds the refusal why to an answer, and the place in the home's files that causes it. It does nothing if
// why is nil.
func (h Home) enterRefusal(c *admin.Checked, table string, why error) (err error) {
	if why == nil {
		return nil
	}
	c.Code, c.Message = fault.CodeOf(why), why.Error()
	c.Where, err = h.placeOf(table, why)
	return err
}

// limitNamed finds the key that a refusal by a limit names.
var limitNamed = regexp.MustCompile(`\b(\w+) in (the limits of )?its policy`)

// placeOf returns the place in the home's files that refuses a job on a table. It returns nil if the
// job itself or another member is the reason, or if no place is known.
func (h Home) placeOf(table string, why error) (*admin.Place, error) {
	var policy *party.Refusal
	var held *disclosure.HeldError
	var budget *disclosure.BudgetError
	var full *study.LimitError
	switch named := limitNamed.FindStringSubmatch(why.Error()); {
	case errors.As(why, &policy) && policy.Key != "":
		return h.placeOfPolicy(table, policy.Key)
	case errors.As(why, &policy):
		return nil, nil
	case errors.As(why, &budget) && !budget.Unknown:
		return h.placeOfPolicy(table, "privacy")
	case errors.As(why, &budget):
		return &admin.Place{File: string(h.Releases())}, nil
	case errors.As(why, &held):
		return &admin.Place{File: string(h.Releases()), Key: held.ID}, nil
	case errors.Is(why, job.ErrUnapproved):
		return &admin.Place{File: h.Dictionaries().Folder}, nil
	case errors.As(why, &full):
		return &admin.Place{File: h.path("studies"), Key: full.Key}, nil
	case errors.Is(why, job.ErrStudyUnapproved):
		return &admin.Place{File: h.path("studies")}, nil
	case named != nil && fault.CodeOf(why) == fault.CodePolicy:
		return h.placeOfPolicy(table, "limits."+named[1])
	case fault.NoticeOf(why).Trouble == fault.Offer:
		return h.placeInEntry(table, why)
	}
	return nil, nil
}

// placeOfPolicy returns the place of a key in the policy that applies to a table. If the policy lacks
// the key, the line is that of the map in which it belongs, of the policy, or of the table's entry: the nearest that
// the file has, or 0.
func (h Home) placeOfPolicy(table, key string) (*admin.Place, error) {
	root, err := h.configNode()
	if err != nil {
		return nil, err
	}
	_, tables := setting(root, "data")
	at, entry := setting(tables, table)
	path := "data." + table + ".policy"
	where, policy := setting(entry, "policy")
	if own, home := setting(root, "policy"); where == nil && own != nil {
		path, where, policy = "policy", own, home
	}
	p := &admin.Place{File: h.ConfigPath(), Key: path + "." + key}
	for _, found := range []*yaml.Node{at, where} {
		if found != nil {
			p.Line = found.Line
		}
	}
	for _, part := range strings.Split(key, ".") {
		if where, policy = setting(policy, part); where != nil {
			p.Line = where.Line
		}
	}
	return p, nil
}

// placeInEntry returns the place of the setting of a table's entry that a refusal names.
func (h Home) placeInEntry(table string, why error) (*admin.Place, error) {
	b, err := readConfig(h.ConfigPath())
	if err != nil {
		return nil, err
	}
	return &admin.Place{File: h.ConfigPath(), Line: lineOf(b, fmt.Errorf("data %s: %w", table, why)), Key: "data." + table}, nil
}

// configNode returns the settings of the configuration file.
func (h Home) configNode() (*yaml.Node, error) {
	b, err := readConfig(h.ConfigPath())
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil || len(doc.Content) == 0 {
		return nil, fault.BadInputf("%s is no map of settings; correct it", h.ConfigPath())
	}
	return doc.Content[0], nil
}
