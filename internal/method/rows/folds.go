package rows

import (
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
)

// foldBytes is the number of bytes that a row's fold takes in a message.
const foldBytes = 4

// GroupsFolds reports whether each party assigns its own rows to folds. In such a job all training rows that
// one party has of a group are in the same fold.
func GroupsFolds(j *job.Job) bool { return j.Data.Folds > 0 && j.Data.Group != "" }

// Total is the number of rows of all parties together. Every party knows this number after the rows
// have been sent.
type Total int

// FoldSteps returns the step in which parties send their folds to the coordinator. It returns none
// if the job has no folds by groups. The members' public value is then a [Total]. All bodies have
// room for the rows of all parties, so their sizes do not reveal how many rows a party has.
func FoldSteps[P, S any](c method.Instance, party func(*P, method.Setup) (*method.Run, error), server func(*S, method.Setup) (*method.Run, error)) []method.StepOf[P, S, Total] {
	if !GroupsFolds(c.Job) {
		return nil
	}
	return []method.StepOf[P, S, Total]{gatherStep("folds", foldBytes, c, party, server, method.ReleaseFolds)}
}

// gatherStep returns a step in which each party sends the coordinator a number of bytes for each of
// its rows. All bodies are as long as the rows of all parties need.
func gatherStep[P, S any](name string, bytes int, c method.Instance, party func(*P, method.Setup) (*method.Run, error), server func(*S, method.Setup) (*method.Run, error), kind method.ReleaseKind) method.StepOf[P, S, Total] {
	return method.StepOf[P, S, Total]{
		Name: name, Session: &method.Session{Protocol: collective.GatherName, Version: collective.GatherVersion, Members: c.MembersWithoutLeader(), Purpose: "train"},
		Follow:   method.From(func(k Total) ([]byte, error) { return collective.EncodeGather(bytes * int(k)), nil }),
		Party:    party,
		Server:   server,
		Releases: method.AlsoReleases[P](kind),
		Cost:     method.FromSession(collective.GatherCost),
	}
}

// gatherParty builds a party's machine for a step of gatherStep. It appends zeros to the body up to
// the given length.
func gatherParty(s method.Setup, body []byte, length int) (*method.Run, error) {
	m, err := collective.NewGatherParty(s.Setup, append(body, make([]byte, length-len(body))...))
	return method.RunOf(m, err, method.Nothing)
}

// gatherServer builds the coordinator's machine for a step of gatherStep. It calls take with the
// bodies of all parties.
func gatherServer(s method.Setup, take func(bodies [][]byte) error) (*method.Run, error) {
	m, err := collective.NewGatherServer(s.Setup)
	return method.RunOf(m, err, func() error { return take(m.Bodies()) })
}

// DealGroups returns the fold of each row of the split. Folds count from 1; held-out rows have 0.
// DealGroups assigns groups by decreasing size, each to the smallest fold so far. Different parties
// start with different folds, so that not all parties' largest groups are in one fold.
func DealGroups(j *job.Job, party int, s method.Split) []int {
	var groups []string
	training := s.Rows(false)
	for _, i := range training {
		groups = append(groups, s.Set.Groups[i])
	}
	folds := make([]int, len(s.Test))
	for f, rows := range dataset.DealGroups(groups, j.Data.Folds) {
		for _, at := range rows {
			folds[training[at]] = 1 + (f+party)%j.Data.Folds
		}
	}
	return folds
}

// FoldNames returns the fold number of each row as text. The text serves as the name of the row's
// group.
func FoldNames(folds []int) []string {
	names := make([]string, len(folds))
	for i, f := range folds {
		names[i] = strconv.Itoa(f)
	}
	return names
}

// Folder builds the machine with which a party sends the folds of its rows; total is the number of
// rows of all parties.
func (p *Party) Folder(s method.Setup, total int) (*method.Run, error) {
	var w wire.Writer
	for i, name := range p.Parties {
		if name != p.Self {
			continue
		}
		for _, f := range DealGroups(p.Job, i, p.Split) {
			w.Uint32(uint32(f))
		}
	}
	return gatherParty(s, w.Bytes(), foldBytes*total)
}

// FoldListener builds the machine with which the coordinator receives the folds. Party i has
// counts[i] rows, and test marks held-out rows. The function take receives the folds' names in the
// order of the rows.
func FoldListener(s method.Setup, c method.Instance, counts []int, test []bool, take func(names []string)) (*method.Run, error) {
	return gatherServer(s, func(bodies [][]byte) error {
		folds, err := readFolds(c, bodies, counts, test)
		if err == nil {
			take(FoldNames(folds))
		}
		return err
	})
}

// readFolds decodes the folds of the rows of all parties. An empty fold is a fault of the job.
func readFolds(c method.Instance, bodies [][]byte, counts []int, test []bool) (folds []int, err error) {
	used := make(map[int]bool)
	for i, body := range bodies {
		own, err := readFold(body, c.Job.Data.Folds, test[len(folds):len(folds)+counts[i]])
		if err != nil {
			return nil, protocol.Blame(c.Parties[i], protocol.KindMalformed, err)
		}
		for _, f := range own {
			if f > 0 {
				used[f] = true
			}
		}
		folds = append(folds, own...)
	}
	if len(used) < c.Job.Data.Folds {
		return nil, fault.BadInputf("the groups of all parties fill %d of %d folds; use fewer folds", len(used), c.Job.Data.Folds)
	}
	return folds, nil
}

// readFold decodes the folds of one party's rows.
func readFold(body []byte, most int, test []bool) ([]int, error) {
	r, folds := wire.NewReader(body), make([]int, len(test))
	for i, held := range test {
		f := r.Uint32()
		if r.Err() == nil && (f > uint32(most) || (f == 0) != held) {
			r.Fail(fmt.Errorf("row %d has fold %d of %d and its held-out flag is %t; only held-out rows have fold 0", i, f, most, held))
		}
		folds[i] = int(f)
	}
	for r.Err() == nil && r.Len() > 0 {
		if r.Uint32() != 0 {
			r.Fail(fmt.Errorf("the message has a fold for a row after the last of %d rows", len(test)))
		}
	}
	return folds, r.Close("rows: folds")
}
