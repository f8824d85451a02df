package columns

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// ruleID stands for the rule by which a party makes its ids. The party brings it to the
// intersection as one more id: it is common to all if and only if all have that rule, and whoever
// compares for the parties sees it as little as any id. A party with a plain rule brings none.
func ruleID(rule string) [][]byte {
	if rule == "" {
		return nil
	}
	sum := sha256.Sum256([]byte("mercer/v1/id-rule\x00" + rule))
	return [][]byte{append([]byte("\x00rule"), sum[:]...)}
}

// withoutRule takes the rule out of the common ids, in whose order it stands after the n ids of
// the table. It refuses an intersection in which the party's own rule is missing.
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

var errNoRow = errors.New("columns: no id is common to all parties; see that their tables are about the same things")

// ruled has a machine that finds no common id say that another party's rule differs: an equal
// rule would have been common.
func (a alignment) ruled(m protocol.Machine) protocol.Machine {
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

// otherRule refuses ids that are made by different rules. Peers are not told this party's.
func (a alignment) otherRule() error {
	const advice = "agree on one, write it as id: {columns, normalize} in each catalogue, and submit the job again"
	return &fault.Error{
		Code: fault.CodeBadInput, Err: fmt.Errorf("columns: another party makes its ids by another rule than this one (%s); %s", a.rule, advice),
		Public: "the parties' catalogues make ids by different rules; " + advice,
	}
}
