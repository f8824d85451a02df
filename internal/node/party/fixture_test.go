package party

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport/mem"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	goleak.VerifyTestMain(m)
}

// fixture is a party, called north, among others whose part the test plays.
type fixture struct {
	t      *testing.T
	party  *Party
	roster *roster.Roster
	keys   map[string]*identity.Identity
	others map[string]*mail.Router
	loads  atomic.Int32
	record recorder
	cause  atomic.Value // the last error with which north has refused a proposal
	// foreseen is north's opinion of the job of the last proposal, or nil if the proposal is not one
	// that an honest coordinator would begin a job with.
	foreseen *Opinion
	// dictionaries are what north's operator has approved.
	dictionaries jobtest.Dictionaries
}

func wdbc() *dataset.Set {
	set, err := bundled.Load("wdbc")
	if err != nil {
		panic(err)
	}
	rows := make([]int, 20)
	for i := range rows {
		rows[i] = i + 10
	}
	return set.Subset(rows)
}

// usual allows every protocol on a table of any size; hardened, and closed with the
// result.
func usual() Policy { return Policy{Protocols: all.Reader().Known().Protocols, Limits: NoLimits()} }

// opened is usual, with predictions that stay open.
func opened() Policy {
	p := usual()
	p.OpenPrediction = true
	return p
}

func anyMode() Policy {
	p := usual()
	p.Modes = all.Reader().Known().Modes
	return p
}

func newFixture(t *testing.T, policy Policy) *fixture {
	s := &fixture{t: t, roster: &roster.Roster{Federation: "test"}, keys: make(map[string]*identity.Identity), others: make(map[string]*mail.Router)}
	network := mem.NewNetwork()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 8)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	for _, name := range []string{"hub", "north", "south", "east"} {
		id, err := identity.FromSeed(sha256.Sum256([]byte(name)))
		if err != nil {
			t.Fatal(err)
		}
		role := roster.Party
		if name == "hub" {
			role = roster.Coordinator
		}
		s.keys[name] = id
		s.roster.Members = append(s.roster.Members, roster.Member{Name: name, Role: role, Public: id.Public()})
	}
	for _, name := range []string{"hub", "south", "east"} {
		conn, err := network.Join(name)
		if err != nil {
			t.Fatal(err)
		}
		x := mail.New(name, s.keys[name], s.roster, conn, quiet)
		s.others[name] = x
		go func() { ended <- x.Run(ctx) }()
	}
	conn, err := network.Join("north")
	if err != nil {
		t.Fatal(err)
	}
	s.party = New(Config{
		Reader: all.Reader().Knowing(s.dictionaries.Find), Approved: s.dictionaries.Approved, Name: "north", Identity: s.keys["north"], Roster: s.roster, Conn: conn, Vault: vault.NewMemory(), Retained: vault.NewMemoryStates(), Snapshots: vault.NewMemoryStates(),
		Policy: func(string) (Policy, error) { return policy, nil }, Usage: func() (float64, uint64) { return 0, 0 }, Logger: quiet,
		Load: func(job.ID, job.Data) (method.Table, error) {
			s.loads.Add(1)
			return method.Table{Set: wdbc(), Key: dataset.SplitKey{1}}, nil
		},
		Peek: func(d job.Data) (method.Table, error) {
			defer s.loads.Store(s.loads.Load())
			return s.party.Load(job.ID{}, d)
		},
		Audit:    &s.record,
		Failed:   func(cause error) { s.cause.Store(cause.Error()) },
		Seed:     func(label string) [32]byte { return sha256.Sum256([]byte(label)) },
		Releases: disclosure.Ledger(filepath.Join(t.TempDir(), "releases")),
	})
	go func() { ended <- s.party.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 4 {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	return s
}

// recorder keeps the events that north records, or fails.
type recorder struct {
	mu     sync.Mutex
	events []audit.Event
	err    error
}

// Append implements [Auditor].
func (r *recorder) Append(e audit.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.events = append(r.events, e)
	}
	return r.err
}

var errFull = errors.New("the disk of the record is full")

// fail has further events fail with an error, or be kept.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// kinds lists the kinds of the events so far.
func (r *recorder) kinds() (list []audit.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		list = append(list, e.Kind)
	}
	return list
}

// tell sends a control message to north.
func (s *fixture) tell(from string, id protocol.SessionID, kind string, body []byte) {
	s.t.Helper()
	if err := s.others[from].Tell(s.t.Context(), "north", id, kind, body); err != nil {
		s.t.Fatal(err)
	}
}

// hear returns north's next control message to the coordinator.
func (s *fixture) hear(kind string) protocol.Message {
	s.t.Helper()
	select {
	case in := <-s.others["hub"].Control():
		if err := in.Ack(); err != nil {
			s.t.Error(err)
		}
		if in.Message.Kind != kind {
			s.t.Fatalf("north says %v, want %s: %q", in.Message.Header, kind, in.Message.Body)
		}
		switch {
		case kind == control.KindRefusal:
			s.agrees()
		case kind == control.KindAcceptance && s.foreseen != nil && s.foreseen.Refusal != nil:
			s.t.Errorf("north accepts what its check would have refused: %v", s.foreseen.Refusal)
		}
		return in.Message
	case <-time.After(10 * time.Second):
		s.t.Fatalf("north says nothing; want %s", kind)
		return protocol.Message{}
	}
}

// idle checks that north has nothing more to say: it answers the closing of an
// unknown job, and nothing comes before.
func (s *fixture) idle() {
	s.t.Helper()
	c := &control.Closing{Job: job.ID{0xff}}
	s.tell("hub", control.Topic(c.Job), control.KindClosing, c.Encode())
	s.hear(control.KindClosed)
}

// plan returns the steps of a job that the hub coordinates.
func (s *fixture) plan(j *job.Job) []method.Step {
	s.t.Helper()
	m, err := method.Of(j)
	if err != nil {
		s.t.Fatal(err)
	}
	plan, err := m.Plan(method.Instance{Job: j, Coordinator: "hub", Parties: j.Parties()})
	if err != nil {
		s.t.Fatal(err)
	}
	return plan
}

func (s *fixture) proposal(j *job.Job, id job.ID, index int) *control.Proposal {
	s.t.Helper()
	plan := s.plan(j)
	among, err := s.roster.Subset(j.Parties())
	if err != nil { // a test of strangers
		among = s.roster
	}
	return &control.Proposal{Job: id, Spec: j.Encode(), Stage: uint16(index), Descriptor: plan[index].Session.Descriptor(id, index, among.Hash(), 0), Submitter: userAt("hub", 7)}
}

// propose sends a proposal and returns its session.
func (s *fixture) propose(p *control.Proposal) *protocol.Session {
	s.t.Helper()
	ps, err := protocol.NewSession(p.Descriptor)
	if err != nil {
		s.t.Fatal(err)
	}
	s.foreseen = s.foresee(p)
	s.tell("hub", ps.ID(), control.KindProposal, p.Encode())
	return ps
}

// foresee asks north for its opinion of the job of a proposal.
func (s *fixture) foresee(p *control.Proposal) *Opinion {
	s.t.Helper()
	j, err := s.party.Reader.Parse("proposal", p.Spec)
	if err != nil || p.Inquiry != nil || j.NeedsFit() {
		return nil
	}
	m, err := method.Of(j)
	if err != nil {
		return nil
	}
	plan, err := m.Plan(method.Instance{Job: j, Coordinator: "hub", Parties: j.Parties()})
	if err != nil {
		return nil
	}
	first := slices.IndexFunc(plan, func(st method.Step) bool { return st.Session != nil && st.Session.Has("north") })
	if first < 0 || string(s.proposal(j, p.Job, first).Encode()) != string(p.Encode()) {
		return nil
	}
	before := s.books()
	o, err := s.party.Check(s.t.Context(), j)
	if err != nil {
		s.t.Fatal(err)
	}
	if after := s.books(); after != before {
		s.t.Errorf("the check has changed the ledger from %s to %s", before, after)
	}
	return &o
}

// books describes the files of north's ledger, except the lock.
func (s *fixture) books() string {
	entries, err := os.ReadDir(string(s.party.Releases))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	text := ""
	for _, e := range entries {
		if b, err := os.ReadFile(filepath.Join(string(s.party.Releases), e.Name())); err == nil && e.Name() != "lock" {
			text += fmt.Sprintf("%s %x\n", e.Name(), sha256.Sum256(b))
		}
	}
	return text
}

// ofThisID finds the refusals that depend on the id of a job or a session, which a check draws anew.
var ofThisID = regexp.MustCompile("job id already belongs|has ended here|was accepted before|run before and never runs again")

// agrees checks that north has foreseen its refusal.
func (s *fixture) agrees() {
	s.t.Helper()
	cause, _ := s.cause.Load().(string)
	switch {
	case s.foreseen == nil || ofThisID.MatchString(cause):
	case s.foreseen.Refusal == nil:
		s.t.Errorf("north refuses (%s) what its check would have accepted", cause)
	case s.foreseen.Refusal.Error() != cause:
		s.t.Errorf("north refuses with %q, and its check said %q", cause, s.foreseen.Refusal)
	}
	s.foreseen = nil
}

// refuses checks that north says no.
func (s *fixture) refuses(code fault.Code, want string) {
	s.t.Helper()
	f, err := control.DecodeRefusal(s.hear(control.KindRefusal).Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if f.Code != code || !strings.Contains(f.Sentence(), want) {
		s.t.Errorf("refused with code %d: %s; want code %d and %q", f.Code, f.Sentence(), code, want)
	}
}

func (s *fixture) report() *control.Report {
	s.t.Helper()
	r, err := control.DecodeReport(s.hear(control.KindReport).Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// directory is a good directory, once north has accepted.
func (s *fixture) directory(ps *protocol.Session) control.Directory {
	s.t.Helper()
	a, err := control.DecodeAcceptance(s.hear(control.KindAcceptance).Body)
	if err != nil {
		s.t.Fatal(err)
	}
	d := s.withOthers(ps)
	d[0] = *a
	return d
}

// withOthers is a directory in which all keys but north's are good.
func (s *fixture) withOthers(ps *protocol.Session) control.Directory {
	s.t.Helper()
	var d control.Directory
	for _, m := range ps.Members {
		keys, err := identity.DeriveSession(sha256.Sum256([]byte("session of " + m.Name)))
		if err != nil {
			s.t.Fatal(err)
		}
		d = append(d, control.Accept(ps.ID(), m.Name, keys.Public().Bytes(), s.keys[m.Name].SigningKey()))
	}
	return d
}
