package columns

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// alignment describes how a party matches its rows with the other parties' rows.
type alignment struct {
	// onlyCompare is true if the job promises equal ids in equal order. The parties then bring a
	// single id each to the intersection: the digest of all ids of the table, in the table's order. So
	// the parties learn whether their tables have the same rows, and get a common key, for the cost of
	// one id. The intersection lets a party test a single guess at another party's whole list of ids.
	// A plain comparison of digests would let that party test many guesses offline.
	onlyCompare bool
	kept        bool // an earlier job has matched the rows, so the parties compare no ids
	maxIDs      int  // the largest number of ids that each party can look for
	// rule describes how this party makes its ids; "" means the unchanged cells of one column.
	rule string
}

// withRule returns a copy of the alignment with the given rule for ids.
func (a alignment) withRule(rule string) alignment {
	a.rule = rule
	return a
}

// trainingAlignment returns the alignment of the rows that a job trains on.
func trainingAlignment(j *job.Job) alignment {
	if j.Data.Partition.Aligned {
		return alignment{onlyCompare: true, maxIDs: 1}
	}
	a := byIDs(j)
	a.kept = j.Data.Partition.AlignedBy != job.ID{}
	return a
}

// byIDs returns an alignment in which the parties intersect their ids.
func byIDs(j *job.Job) alignment { return alignment{maxIDs: j.Protocol.Limit("max_ids")} }

func (a alignment) params() (psi.Params, error) { return psi.NewParams(psi.Spec{MaxIDs: a.maxIDs}) }

// maxSought returns the largest number of ids that each party can look for in another party's table. It
// returns 0 if the parties only compare their tables.
func (a alignment) maxSought(p psi.Params) int {
	if a.onlyCompare {
		return 0
	}
	return p.Spec().MaxIDs
}

func steps(c method.Instance, purpose string, a alignment) ([]method.Step, error) {
	params, err := a.params()
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > psi.MaxParties {
		return nil, fmt.Errorf("columns: the job has %d parties; name at most %d", len(c.Parties), psi.MaxParties)
	}
	members := c.AllMembers()
	if len(c.Parties) == 2 { // two parties compare their ids without the coordinator
		members = c.DataParties()
	}
	return []method.Step{{Name: "align", Session: &method.Session{
		Protocol: psi.Name, Version: psi.Version, Params: params.Encode(), Members: members, Purpose: purpose, Seeks: a.maxSought(params),
	}}, {Name: "all-gather", Session: &method.Session{
		Protocol: collective.AllGatherName, Version: collective.AllGatherVersion, Members: c.AllMembers(), Purpose: purpose,
	}}}, nil
}

// partyMachine builds the machine with which a party aligns the ids of its table.
func (a alignment) partyMachine(setup method.Setup, ids []string, take func(order []int, key [32]byte) error) (*method.Run, error) {
	params, err := a.params()
	if err != nil {
		return nil, err
	}
	if a.onlyCompare {
		m, err := psi.NewParty(setup.Setup, params, [][]byte{tableID(a.rule, ids)})
		if err != nil {
			return nil, err
		}
		return &method.Run{Machine: tableErrors(m), InputHash: m.InputHash(), Finish: func() error {
			key := m.Key() // the key is secret, because the common order follows from it
			return take(prg.New(key, "stage/order").Perm(len(ids)), key)
		}}, nil
	}
	m, err := psi.NewParty(setup.Setup, params, append(idBytes(ids), ruleID(a.rule)...))
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: a.withRuleErrors(m), InputHash: m.InputHash(), Announced: m.Announced, Finish: func() error {
		order, err := a.withoutRule(m.Order(), len(ids))
		if err != nil {
			return err
		}
		return take(order, m.Key())
	}}, nil
}

// serverMachine builds the coordinator's machine, which compares blinded ids if a job has more than
// two parties.
func (a alignment) serverMachine(setup method.Setup) (*method.Run, error) {
	params, err := a.params()
	if err != nil {
		return nil, err
	}
	m, err := psi.NewServer(setup.Setup, params)
	run := &method.Run{Machine: m, Finish: method.Nothing}
	if a.onlyCompare {
		run.Machine = tableErrors(m)
	}
	return run, err
}

// tableErrors rewrites a machine's errors about ids into errors about tables. It is for parties
// that only compare their tables, because each of their ids is the digest of a whole table.
func tableErrors(m protocol.Machine) protocol.Machine {
	return method.Translated{Machine: m, Meaning: func(err error) error {
		var none *psi.EmptyError
		if !errors.As(err, &none) {
			return err
		}
		return fault.Public(fault.BadInputf(`columns: the tables of %s do not have the same ids in the same order, or make their ids by different rules; make ids and rules equal, freeze all tables on one day with the same withdrawals, or remove "aligned" from the job`, strings.Join(none.Parties, ", ")))
	}}
}

// tableID returns a digest of the rule and the ids, in the order of the ids.
func tableID(rule string, ids []string) []byte {
	var w wire.Writer
	w.String("mercer/v1/aligned")
	w.Strings(ids)
	if rule != "" {
		w.String(rule)
	}
	sum := sha256.Sum256(w.Bytes())
	return sum[:]
}

func idBytes(ids []string) [][]byte {
	list := make([][]byte, len(ids))
	for i, id := range ids {
		list[i] = []byte(id)
	}
	return list
}

// ruleID returns an id that represents the rule by which a party makes its ids. The party brings
// this id to the intersection as one more id. The id is common to all parties if and only if all
// parties have the same rule. A member that compares ids learns no more about the rule than about
// any other id. A party whose rule is "" brings no such id.
func ruleID(rule string) [][]byte {
	if rule == "" {
		return nil
	}
	sum := sha256.Sum256([]byte("mercer/v1/id-rule\x00" + rule))
	return [][]byte{append([]byte("\x00rule"), sum[:]...)}
}

// withoutRule removes the rule's own id (see ruleID) from the common ids. The rule's id has index
// n, after the n ids of the table. withoutRule refuses an intersection that lacks the party's own
// rule.
func (a alignment) withoutRule(order []int, n int) ([]int, error) {
	if a.rule == "" {
		return order, nil
	}
	rows := make([]int, 0, len(order))
	for _, at := range order {
		if at < n {
			rows = append(rows, at)
		}
	}
	switch {
	case len(rows) == len(order):
		return nil, a.otherRule()
	case len(rows) == 0:
		return nil, fault.BadInput(errNoRow)
	}
	return rows, nil
}

var errNoRow = fault.Publicf("columns: no id is common to all parties; check that their tables describe the same people or things")

// withRuleErrors wraps a machine so that it reports an empty intersection as a difference between
// the parties' rules. Parties with equal rules have at least the rule's id in common.
func (a alignment) withRuleErrors(m protocol.Machine) protocol.Machine {
	if a.rule == "" {
		return m
	}
	return method.Translated{Machine: m, Meaning: func(err error) error {
		var none *psi.EmptyError
		if errors.As(err, &none) {
			return a.otherRule()
		}
		return err
	}}
}

// otherRule returns the error for parties that make their ids by different rules. Peers do not
// learn this party's rule.
func (a alignment) otherRule() error {
	const advice = `agree on one rule, write it as "id: {columns: [...], normalize: [...]}" in each catalogue, and submit the job again`
	return &fault.Error{
		Code: fault.CodeBadInput, Err: fmt.Errorf("columns: another party makes its ids by another rule than this party (%s); %s", a.rule, advice),
		Public: "the parties' catalogues make ids by different rules; " + advice,
	}
}
