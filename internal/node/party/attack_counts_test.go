package party

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// recorded is a machine, or none, whose messages are recorded.
type recorded struct {
	protocol.Machine
	heard chan protocol.Message
}

func (r recorded) Step(e protocol.Event) (protocol.Effects, error) {
	if got, is := e.(protocol.Received); is {
		r.heard <- got.Message
	}
	if r.Machine == nil {
		return protocol.Effects{}, nil
	}
	return r.Machine.Step(e)
}

// play runs the machine of another member in a session.
func (s *fixture) play(name string, ps *protocol.Session, d control.Directory, run *method.Run, heard chan protocol.Message) (stop func()) {
	s.t.Helper()
	keys, err := identity.DeriveSession(sha256.Sum256([]byte("session of " + name)))
	if err != nil {
		s.t.Fatal(err)
	}
	s.others[name].Announce(ps)
	box, err := s.others[name].Open(ps, keys, d)
	if err != nil {
		s.t.Fatal(err)
	}
	v := vault.NewMemory()
	vs, err := v.Create(ps.ID(), [32]byte{1}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c := driver.Config{
		Session: ps, Machine: recorded{nil, heard}, Records: vs.Records(), Log: vs, Ledger: v, Mail: box, Logger: s.party.Logger,
		Timeout: func(protocol.Timer) time.Duration { return time.Minute },
	}
	if run != nil {
		c.Machine, c.InputHash = recorded{run.Machine, heard}, run.InputHash
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := driver.Run(ctx, c)
		ended <- err
	}()
	return func() {
		if run == nil {
			cancel()
		}
		select {
		case err := <-ended:
			if run != nil && err != nil {
				s.t.Error(name, err)
			}
		case <-time.After(20 * time.Second):
			s.t.Error(name, "goes on")
		}
		cancel()
	}
}

func (s *fixture) signs(name string) func([]byte) []byte {
	return func(m []byte) []byte { return ed25519.Sign(s.keys[name].SigningKey(), m) }
}

// patients has north's catalogue hold a table of patients, read by each job's schema.
func (s *fixture) patients(j *job.Job, csv string) {
	s.party.Load = func(job.ID, job.Data) (method.Table, error) {
		return methodtest.Hospital(s.t, j, "north", csv, "patient"), nil
	}
}

// columnOrder plays the first session of a job: south leads it. It returns the classes' message of north.
func (s *fixture) columnOrder(j *job.Job, id job.ID, table string) protocol.Message {
	s.t.Helper()
	m, err := method.Of(j)
	if err != nil {
		s.t.Fatal(err)
	}
	south, err := m.Party(method.Instance{Job: j, ID: id, Coordinator: "hub", Parties: j.Parties()}, "south", methodtest.Hospital(s.t, j, "south", table, "patient"))
	if err != nil {
		s.t.Fatal(err)
	}
	ps := s.propose(s.proposal(j, id, 0))
	d := s.joined(ps)
	run, err := south.Build(0, method.Setup{
		Setup: protocol.Setup{Session: ps, Self: "south", Seed: [32]byte{7}}, Sign: s.signs("south"), Key: s.party.signer,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	heard := make(chan protocol.Message, 8)
	stop := s.play("south", ps, d, run, heard)
	s.tell("hub", ps.ID(), control.KindDirectory, d.Encode())
	said := <-heard
	if r := s.report(); r.Code != 0 {
		s.t.Fatalf("%+v", r)
	}
	stop()
	return said
}

// joined is a good directory, once north has accepted, in any place.
func (s *fixture) joined(ps *protocol.Session) control.Directory {
	s.t.Helper()
	a, err := control.DecodeAcceptance(s.hear(control.KindAcceptance).Body)
	if err != nil {
		s.t.Fatal(err)
	}
	d := s.withOthers(ps)
	for i, m := range ps.Members {
		if m.Name == "north" {
			d[i] = *a
		}
	}
	return d
}

func (s *fixture) closes(id job.ID) {
	s.t.Helper()
	s.tell("hub", control.Topic(id), control.KindClosing, (&control.Closing{Job: id, Outcome: "for fun"}).Encode())
	for {
		select {
		case in := <-s.others["hub"].Control():
			_ = in.Ack()
			if in.Message.Kind == control.KindClosed {
				return
			}
		case <-time.After(20 * time.Second):
			s.t.Fatal("north does not close")
		}
	}
}

// cornered is a job over the people of one corner of a table: its schema filters.
func cornered(protocol, age, postcode string) string {
	f := fmt.Sprintf(jobFile, "none", protocol, "closed")
	f = strings.Replace(f, "[north, south, east]", "[south, north]", 1)
	return strings.Replace(f, "scale:", fmt.Sprintf("schema: {age: {range: [0, %s], outside: missing, missing: drop-row}, postcode: {range: [10000, %s], outside: missing, missing: drop-row}, bmi: {range: [10, 60]}}\n    scale:", age, postcode), 1)
}

// The coordinator alone. escaped's first message, Announce, reveals the number of rows: jobs, each of
// another dictionary, that are broken off after it would count the patients in any corner of one
// party's table. Its operator has approved all. The first one stays in the ledger, which holds the
// second.
func TestAttackEscapedCountsLeaveWithoutAnEntry(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	policy := anyMode()
	policy.Limits = PolicyLimits{} // the defaults: 100 rows
	s := newFixture(t, policy)
	north := methodtest.Patients("north", 300, "person-1,79.95,233.7,99999,31.25,yes,often,a")
	next := func(age string, id byte) (*job.Job, job.ID) {
		j := s.dictionaries.Approve(jobtest.Parse(t, cornered("{name: escaped, mode: paper}", age, "99999")))
		s.patients(j, north)
		return j, job.ID{id}
	}
	j, id := next("120", 1)
	s.columnOrder(j, id, methodtest.Patients("south", 300))
	ps := s.propose(s.proposal(j, id, 1))
	d := s.joined(ps)
	heard := make(chan protocol.Message, 8)
	stop := s.play("hub", ps, d, nil, heard)
	s.tell("hub", ps.ID(), control.KindDirectory, d.Encode())
	<-heard
	stop()
	s.closes(id)
	if list, err := s.party.Releases.List(); err != nil || len(list) != 1 || list[0].State != disclosure.Released {
		t.Errorf("after the closing: %+v, %v", list, err)
	}
	j, id = next("79.92", 2)
	s.propose(s.proposal(j, id, 0))
	s.refuses(fault.CodePolicy, "the job awaits its operator's approval")
}

// The coordinator with one party, south. The column order reveals to south every class that north has,
// also a class of one patient. By schemas that filter, jobs that are broken off after the column order
// would find that patient's age. The first one stays in the ledger, which holds the second.
func TestAttackColumnOrderTellsClassesWithoutAnEntry(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	policy := usual()
	policy.Limits = PolicyLimits{}
	s := newFixture(t, policy)
	const rare = "zz-rare-diagnosis"
	north := methodtest.Patients("north", 400, "person-1,71.3,233.7,48149,31.25,yes,often,"+rare)
	for i, age := range []string{"80.000", "60.000"} {
		j, id := s.dictionaries.Approve(jobtest.Parse(t, cornered("{name: okra}", age, "99999"))), job.ID{9, byte(i)}
		s.patients(j, north)
		if i > 0 {
			s.propose(s.proposal(j, id, 0))
			s.refuses(fault.CodePolicy, "the job awaits its operator's approval")
			return
		}
		if said := s.columnOrder(j, id, methodtest.Patients("south", 300)); !bytes.Contains(said.Body, []byte(rare)) {
			t.Error("the leader is not told the class")
		}
		s.closes(id)
		list, err := s.party.Releases.List()
		if err != nil || len(list) != 1 || list[0].State != disclosure.Released || !slices.Equal(list[0].Also, []method.ReleaseKind{method.ReleaseLabels}) {
			t.Fatalf("after the closing: %+v, %v", list, err)
		}
	}
}
