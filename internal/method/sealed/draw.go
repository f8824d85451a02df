package sealed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// The directions of a job's random features follow from 32 bytes of each party. Each party commits to its bytes in its
// declaration, before it knows any other's, and shows them afterwards. So as long as one party draws its bytes at
// random, nobody chooses the directions, the coordinator included. Whoever shows its bytes last can only end the job.

// token is a party's part of the directions.
type token [32]byte

// drawToken derives a party's token from the secret seed of a session.
func drawToken(setup protocol.Setup) token {
	return prg.Derive(setup.Seed, "sealed/token")
}

// commitment returns the SHA-256 by which a party commits to its token in a session. It names the party, so that no
// other party can repeat it.
func (t token) commitment(session protocol.SessionID, party string) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/sealed token")
	w.Fixed(session[:])
	w.String(party)
	w.Fixed(t[:])
	return sha256.Sum256(w.Bytes())
}

// declaration is a party's statement to all members.
type declaration struct {
	rows, columns int
	commitment    [sha256.Size]byte
}

func (d declaration) encode() []byte {
	var w wire.Writer
	w.Uint64(uint64(d.rows))
	w.Uint32(uint32(d.columns))
	w.Fixed(d.commitment[:])
	return w.Bytes()
}

func decodeDeclaration(b []byte) (declaration, error) {
	r := wire.NewReader(b)
	rows, columns := r.Uint64(), r.Uint32()
	d := declaration{rows: int(min(rows, sealed.MaxRows+1)), columns: int(columns)}
	r.Fixed(d.commitment[:])
	switch {
	case r.Err() != nil:
	case rows < 1 || rows > sealed.MaxRows:
		r.Fail(fmt.Errorf("the party declares %d training rows; 1 to %d are allowed", rows, sealed.MaxRows))
	case columns < 1 || columns > job.MaxFeatures:
		r.Fail(fmt.Errorf("the party declares %d columns; 1 to %d are allowed", columns, job.MaxFeatures))
	}
	return d, r.Close("sealed: declaration")
}

// declared holds the declarations of all parties.
type declared struct {
	session protocol.SessionID
	list    []declaration // the parties' declarations, in the job's order of parties; nil before the count
	digest  [sha256.Size]byte
}

// readDeclarations decodes and checks all parties' declarations, which they have made in a session.
func readDeclarations(c method.Instance, session protocol.SessionID, statements [][]byte) (declared, error) {
	all := declared{session: session}
	digest, err := sums.Statements(c.Parties, statements, func(b []byte) error {
		d, err := decodeDeclaration(b)
		if err == nil && len(all.list) > 0 && d.columns != all.list[0].columns {
			err = fmt.Errorf("the party declares %d columns, but %s declares %d; all tables must have equally many", d.columns, c.Parties[0], all.list[0].columns)
		}
		all.list = append(all.list, d)
		return err
	})
	if err != nil {
		return declared{}, err
	}
	all.digest = digest
	if _, err := all.public().params(c); err != nil {
		return declared{}, fault.Public(fault.BadInput(err))
	}
	return all, nil
}

// public returns the public values that follow from the declarations.
func (d declared) public() public {
	k := public{counted: d.digest}
	for _, one := range d.list {
		k.rows, k.columns = append(k.rows, one.rows), one.columns
	}
	return k
}

// open checks the tokens that the parties show, and returns the seed of the directions.
func (d declared) open(parties []string, statements [][]byte) ([32]byte, error) {
	at := 0
	digest, err := sums.Statements(parties, statements, func(b []byte) error {
		i := at
		at++
		if len(b) != len(token{}) || token(b).commitment(d.session, parties[i]) != d.list[i].commitment {
			return errors.New("sealed: the party shows other bytes for the directions than it has committed to")
		}
		return nil
	})
	if err != nil {
		return [32]byte{}, err
	}
	var w wire.Writer
	w.String("mercer/v1/sealed directions")
	w.Fixed(d.digest[:])
	w.Fixed(digest[:])
	return sha256.Sum256(w.Bytes()), nil
}

// directions returns the features of a job, which all members know: random ones or, with kernel linear, the columns
// and a constant.
func directions(j *job.Job, seed [32]byte, features, columns int) (feature.Mapping, error) {
	if j.Kernel.Name == job.Linear {
		return privacyOf(j).Linear(&j.Data, columns)
	}
	return moments.Features(j.Kernel.Spec(), seed, features, columns)
}

// unitOf returns the factor with which the squares of a row's features add up to at most 1.
func unitOf(j *job.Job, features int) float64 {
	if j.Kernel.Name == job.Linear {
		return 1
	}
	return math.Sqrt(2 / float64(features))
}
