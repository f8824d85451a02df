package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/declare"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// aligning is what a job and a question about new rows do not have in common when
// their rows are aligned.
type aligning struct {
	purpose string
	ids     func(*Party) method.Release // what a party lets others look for
	// usable, if not nil, says what the protocol that follows cannot do with what
	// has been declared.
	usable func(declared) error
	// compared says that tables are: they have the same ids in the same order.
	compared bool
}

// alignStages begin every job between holders of columns, and every question about
// more of their rows: the parties end with the same rows in the same order, which
// the coordinator does not know, and tell each other and the coordinator what they
// bring.
func alignStages(j *job.Job, c Cast, a aligning) ([]Stage, error) {
	params, err := a.params(j)
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > psi.MaxParties {
		return nil, fmt.Errorf("stage: rows of %d parties cannot be aligned; name at most %d", len(c.Parties), psi.MaxParties)
	}
	members := c.withServer()
	if len(c.Parties) == 2 { // they need nobody to compare for them
		members = c.parties()
	}
	return []Stage{{Name: "align", Session: &Session{
		Protocol: psi.Name, Version: psi.Version, Params: params.Encode(), Members: members, Purpose: a.purpose,
		Release: a.ids, Seeks: a.seeks(params),
		party: func(p *Party, setup Setup) (*Run, error) {
			if a.compared {
				return p.comparer(setup, params)
			}
			return p.aligner(setup, params)
		},
		server: func(_ *Server, setup Setup) (*Run, error) {
			m, err := psi.NewServer(setup.Setup, params)
			run := &Run{Machine: m, Finish: func() error { return nil }}
			if a.compared {
				run.Machine = compared(m)
			}
			return run, err
		},
	}}, {Name: "declare", Session: &Session{
		Protocol: declare.Name, Version: declare.Version, Members: c.withServer(), Purpose: a.purpose,
		party:  func(p *Party, setup Setup) (*Run, error) { return p.declarer(setup, a.usable) },
		server: func(s *Server, setup Setup) (*Run, error) { return s.listener(setup, a.usable) },
	}}}, nil
}

// training is how the rows of a job are aligned. Where tables are compared, no id
// is told.
func (c Cast) training(j *job.Job, usable func(declared) error) aligning {
	if j.Data.Partition.Aligned {
		return aligning{purpose: "train", usable: usable, compared: true}
	}
	return aligning{purpose: "train", usable: usable, ids: func(p *Party) method.Release { return p.release(method.ReleaseIDs, c, p.vertical.table) }}
}

// DefaultMaxIDs is how many ids each party may look for where a job says nothing.
const DefaultMaxIDs = psi.DefaultMaxIDs

// seeks is how many ids each party may look for.
func (a aligning) seeks(p psi.Params) int {
	if a.compared {
		return 0
	}
	return p.Spec().MaxIDs
}

// declaration is what a holder of columns tells all other members.
type declaration struct {
	rows      int
	alignment [sha256.Size]byte // commitment to the rows and their order, under the parties' key
	columns   gram.Holder
	labels    int     // bytes of the labels as they are sent to the coordinator; 0 if they are not
	spread    float64 // of the columns, in the unit of gamma; 0 if nobody asks
}

func (d declaration) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(d.rows))
	w.Fixed(d.alignment[:])
	w.Uint32(uint32(d.columns.Columns))
	w.Uint8(uint8(d.columns.Exponent))
	w.Bool(d.columns.Whole)
	w.Uint32(uint32(d.labels))
	w.Float64(d.spread)
	return w.Bytes()
}

func decodeDeclaration(b []byte) (declaration, error) {
	r := wire.NewReader(b)
	d := declaration{rows: int(r.Uint32())}
	r.Fixed(d.alignment[:])
	d.columns = gram.Holder{Columns: int(r.Uint32()), Exponent: int(r.Uint8()), Whole: r.Bool()}
	d.labels, d.spread = int(r.Uint32()), r.Float64()
	if r.Err() == nil && (!(d.spread >= 0) || math.IsInf(d.spread, 1)) {
		r.Fail(fmt.Errorf("a spread of %v", d.spread))
	}
	if r.Err() == nil && (d.rows > psi.MaxIDs || d.columns.Columns < 1 || d.columns.Columns > gram.MaxColumns || d.columns.Exponent > gram.MaxExponent || d.labels > maxLabelsBytes) {
		r.Fail(fmt.Errorf("%d rows, %d columns of values up to 2^%d, %d bytes of labels", d.rows, d.columns.Columns, d.columns.Exponent, d.labels))
	}
	return d, r.Close("stage: declaration")
}

// declared is what all holders of columns have told each other.
type declared struct {
	list   []declaration // in the order of the cast; nil before
	digest [sha256.Size]byte
}

// errUndeclared is why nothing follows yet from what the holders of columns say.
var errUndeclared = errors.New("stage: nobody has declared any columns")

// hear reads the statements of a session, and finds out whose rows are not those
// of the others.
func hear(parties []string, statements [][]byte, usable func(declared) error) (declared, error) {
	var d declared
	hash := sha256.New()
	for i, b := range statements {
		one, err := decodeDeclaration(b)
		if err != nil {
			return declared{}, protocol.Blame(parties[i], protocol.KindMalformed, err)
		}
		d.list = append(d.list, one)
		hash.Write(wireBytes(b))
	}
	d.digest = [sha256.Size]byte(hash.Sum(nil))
	if err := d.aligned(parties); err != nil || usable == nil {
		return d, err
	}
	return d, usable(d)
}

// wireBytes is b after its length, so that lists of statements have one reading.
func wireBytes(b []byte) []byte {
	var w wire.Writer
	w.Bytes32(b)
	return w.Bytes()
}

// errOrder says that parties do not hold the same rows in the same order.
var errOrder = errors.New("the parties do not hold the same rows in the same order; nothing has been computed from them")

// aligned demands that all hold the same rows in one order. A party that differs
// from what more than half of all have is to blame.
func (d declared) aligned(parties []string) error {
	count := make(map[[sha256.Size]byte]int)
	for _, one := range d.list {
		count[one.order()]++
	}
	if len(count) == 1 {
		return nil
	}
	for i, one := range d.list {
		for _, other := range d.list {
			if n := count[other.order()]; 2*n > len(d.list) && other.order() != one.order() {
				return protocol.Blame(parties[i], protocol.KindInconsistent, fmt.Errorf("stage: its rows, or their order, are not those of %d of %d parties; nothing has been computed from them", n, len(d.list)))
			}
		}
	}
	return fault.BadInput(fmt.Errorf("stage: %w", errOrder))
}

// order names the rows and their order.
func (d declaration) order() [sha256.Size]byte {
	var w wire.Writer
	w.Uint32(uint32(d.rows))
	w.Fixed(d.alignment[:])
	return sha256.Sum256(w.Bytes())
}

// heldOutSizes is how many of n common rows are in training, and how many are held
// out.
func heldOutSizes(j *job.Job, n int) (train, test int, err error) {
	t, h, err := heldOutAligned(j, n, [32]byte{})
	return len(t), len(h), err
}

// heldOutAligned holds out rows by their place in the common order: only one of
// the parties could go by classes. Which places these are follows from the key that
// the parties alone share.
func heldOutAligned(j *job.Job, n int, key [32]byte) (train, test []int, err error) {
	switch {
	case j.Data.Test == job.Test{}: // folds only
		return dataset.Complement(n, nil), nil, nil
	case j.Data.Test.Every > 0:
		return dataset.Every(n, j.Data.Test.Every)
	case n < 2:
		return nil, nil, fmt.Errorf("stage: %d rows cannot be split; at least two are needed", n)
	}
	size := min(max(int(math.Round(j.Data.Test.Fraction*float64(n))), 1), n-1)
	test = prg.New(key, "stage/split").Perm(n)[:size]
	slices.Sort(test)
	return dataset.Complement(n, test), test, nil
}

// listener is the coordinator's machine of the declaring.
func (s *Server) listener(setup Setup, usable func(declared) error) (*Run, error) {
	m, err := declare.NewServer(setup.Setup)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		var err error
		s.vertical.declared, err = hear(s.Cast.Parties, m.Statements(), usable)
		return err
	}}, nil
}

// declarer is a party's machine of the declaring.
func (p *Party) declarer(setup Setup, usable func(declared) error) (*Run, error) {
	m, err := declare.NewParty(setup.Setup, p.vertical.own.encode())
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		var err error
		p.vertical.declared, err = hear(p.Job.Parties(), m.Statements(), usable)
		return err
	}}, nil
}
