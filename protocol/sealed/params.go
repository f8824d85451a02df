package sealed

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/privacy"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "sealed"
	Version uint16 = 1
)

// LeastRows is the least number of training rows of a data party.
const LeastRows = 100

// Params holds what the members of a session agree on.
type Params struct {
	Problem
	// Keepers names the servers a and b and the dealer c. Each is a data party of the session, or a member with
	// [protocol.RoleKeeper].
	Keepers [3]string
	// Rows holds the training rows that each data party declares, in the session's order of the members with
	// [protocol.RoleParty]. Their sum is the problem's number of rows.
	Rows []int
}

// Check returns an error if the problem fails its check, if the keepers' names are not three different names, if there
// are fewer than two data parties or too many, if one has no rows, or if their rows do not add up to the problem's.
func (p Params) Check() error {
	if len(p.Rows) < 2 || len(p.Rows) > protocol.MaxMembers {
		return fmt.Errorf("sealed: there are %d data parties; use 2 to %d", len(p.Rows), protocol.MaxMembers)
	}
	sum := 0
	for i, n := range p.Rows {
		if n < 1 || n > MaxRows {
			return fmt.Errorf("sealed: data party %d (from 0) declares %d rows; use 1 to %d", i, n, MaxRows)
		}
		sum += n
	}
	if sum != p.Problem.Rows {
		return fmt.Errorf("sealed: the parties declare %d rows; the problem has %d", sum, p.Problem.Rows)
	}
	return p.setting(protocol.SessionID{}).check()
}

// Floors returns an error if a party has fewer rows than [LeastRows] or more than half of all rows. With two parties a
// party can have up to three quarters of all rows. Beyond these limits the weights would tell too much about a party's
// rows, or mostly about one party's rows.
func (p Params) Floors() error {
	most, share := p.Problem.Rows/2, "half"
	if len(p.Rows) == 2 {
		most, share = 3*p.Problem.Rows/4, "three quarters"
	}
	for i, n := range p.Rows {
		switch {
		case n < LeastRows:
			return fmt.Errorf("sealed: data party %d (from 0) has %d training rows; each party needs at least %d", i, n, LeastRows)
		case n > most:
			return fmt.Errorf("sealed: data party %d (from 0) has %d of %d training rows; with %d parties, each can have at most %s of them", i, n, p.Problem.Rows, len(p.Rows), share)
		}
	}
	return nil
}

// These strings begin an encoding of parameters. The encoding of a private problem ends with its guarantee.
const (
	plainMagic   = "mercer/v1/sealed/parameters"
	privateMagic = "mercer/v1/sealed/parameters/private"
)

// Encode returns the canonical encoding of the parameters, for [protocol.Descriptor].Params. It holds the parties'
// rows, but not their sum. For a private problem it holds the guarantee, from which all members compute the noise.
func (p Params) Encode() []byte {
	var w wire.Writer
	g, private := p.Guarantee()
	if private {
		w.String(privateMagic)
	} else {
		w.String(plainMagic)
	}
	for _, n := range []int{p.Features, p.Targets, p.Plan.Steps, p.Plan.Block} {
		w.Uint32(uint32(n))
	}
	w.Uint64(uint64(p.Ridge))
	for _, k := range p.Keepers {
		w.String(k)
	}
	w.Uint32(uint32(len(p.Rows)))
	for _, n := range p.Rows {
		w.Uint32(uint32(n))
	}
	if private {
		w.Uint64(math.Float64bits(g.Epsilon))
		w.Uint64(math.Float64bits(g.Delta))
	}
	return w.Bytes()
}

// DecodeParams decodes the output of [Params.Encode] and checks all numbers. It refuses all other bytes.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	magic := r.String(64)
	if r.Err() == nil && magic != plainMagic && magic != privateMagic {
		r.Fail(errors.New("the parameters are not for sealed"))
	}
	p := Params{Problem: Problem{Features: int(r.Uint32()), Targets: int(r.Uint32()), Plan: chebyshev.Plan{Steps: int(r.Uint32()), Block: int(r.Uint32())}}}
	ridge := r.Uint64()
	if ridge > math.MaxInt64 {
		r.Fail(fmt.Errorf("the ridge is %d; it must be below 2^63", ridge))
	}
	p.Ridge = int64(ridge)
	for i := range p.Keepers {
		p.Keepers[i] = r.String(protocol.MaxNameBytes)
	}
	p.Rows = make([]int, r.Count(protocol.MaxMembers, 4))
	for i := range p.Rows {
		p.Rows[i] = int(r.Uint32())
		p.Problem.Rows += p.Rows[i]
	}
	var g privacy.Guarantee
	if magic == privateMagic {
		g = privacy.Guarantee{Epsilon: math.Float64frombits(r.Uint64()), Delta: math.Float64frombits(r.Uint64())}
	}
	if err := r.Close("sealed: parameters"); err != nil {
		return Params{}, err
	}
	if magic == privateMagic {
		if err := p.blur(g); err != nil {
			return Params{}, err
		}
	}
	if err := p.Check(); err != nil {
		return Params{}, err
	}
	return p, nil
}

// uploader is a member that uploads: a data party, or a keeper without rows that adds noise of its own.
type uploader struct {
	name string
	rows int
}

// uploaders returns the data parties in the session's order and, for a private problem, then the keepers without rows.
func (p Params) uploaders(s *protocol.Session) (list []uploader) {
	for i, name := range s.With(protocol.RoleParty) {
		list = append(list, uploader{name, p.Rows[i]})
	}
	for _, name := range s.With(protocol.RoleKeeper) {
		if p.setting(s.ID()).addsNoise(name) {
			list = append(list, uploader{name: name})
		}
	}
	return list
}

// setting returns what the members of a session compute with.
func (p Params) setting(id protocol.SessionID) setting {
	return setting{problem: p.Problem, session: id, keepers: p.Keepers}
}

// fit returns an error unless the session's members are the data parties of the parameters and their keepers.
func (p Params) fit(s *protocol.Session) error {
	if n := len(s.With(protocol.RoleParty)); n != len(p.Rows) {
		return fmt.Errorf("sealed: the session has %d data parties, but its parameters hold the rows of %d", n, len(p.Rows))
	}
	for _, m := range s.Members {
		if m.Role != protocol.RoleParty && (m.Role != protocol.RoleKeeper || !slices.Contains(p.Keepers[:], m.Name)) {
			return fmt.Errorf("sealed: member %q is neither a data party nor a keeper", m.Name)
		}
	}
	for _, k := range p.Keepers {
		if s.Index(k) < 0 {
			return fmt.Errorf("sealed: keeper %q is not a member of the session", k)
		}
	}
	return nil
}
