package coordinator_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/consent"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/mem"
)

// TestMain has more tests run beside each other than there are processors: a job waits for disks and
// for its own members most of the time.
func TestMain(m *testing.M) {
	disktest.InMemory()
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(beside*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const hub = "hub"

// jobFile is a small job; %s takes more lines of its spec.
const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data:
    source: tumours
    label: label
    partition: {parties: [north, south, east]}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10, tol: 1.0e-8}
  timeout: {join: 20s, round: 20s}
%s`

func parse(t testing.TB, more string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf(jobFile, more))
}

// asItIs is a small job that fits nothing: ledgers let the same rows go to other parties, too.
func asItIs(t testing.TB, more string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, more), "label: label", "label: label\n    scale: none", 1))
}

// tumours shares 60 rows of wdbc out.
func tumours(t testing.TB, j *job.Job) []partition.Share {
	t.Helper()
	return firstTumours(t, j, 60)
}

// firstTumours shares the first rows of wdbc out.
func firstTumours(t testing.TB, j *job.Job, rows int) []partition.Share {
	t.Helper()
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("wdbc")
		if err != nil {
			return nil, err
		}
		return set.Subset(span(0, rows)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return shares
}

func span(from, to int) []int {
	rows := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return rows
}

// testbed is a federation in one process whose members can die and come back,
// with all that they leave on their disks.
type testbed struct {
	t       *testing.T
	dir     string
	places  map[string]string // homes that are elsewhere than in dir, by member
	network *mem.Network
	join    func(name string) (transport.Conn, error) // the network's, or the broker's
	broker  *broker                                   // or nil; it dies with the coordinator
	roster  *roster.Roster
	keys    map[string]*identity.Identity
	logs    *safeBuffer
	tap     *tap
	// dictionaries are approved by all: of each job that is submitted.
	dictionaries jobtest.Dictionaries

	mu     sync.Mutex
	tables map[string]method.Table
	fresh  map[string]method.Table                             // what each calls newSource
	reads  func(name string, d job.Data) (method.Table, error) // in place of tables, nil: never
	policy party.Policy
	// own holds the policies of single parties in its place.
	own    map[string]party.Policy
	orders map[string][]string   // of the last job by columns, by party
	drawn  map[string][][32]byte // seeds by label
	// recommended holds the recommendations to the parties' persons by the last job.
	recommended map[string][]method.Recommendation
	// judged holds what parties with labels know of the last job's held-out rows.
	judged    map[string]*method.Judged
	random    bool // seeds differ from call to call
	limits    party.Limits
	retention retention.Times
	today     func() (time.Time, bool)               // nil: the time, which is trusted
	record    *recordInMemory                        // what the coordinator records; nil: nothing
	running   int                                    // jobs that may run at a time; 0: the default
	program   string                                 // the build of the members; "test" unless it is said
	abandons  bool                                   // sessions of other builds are given up
	loses     func(to, kind string) bool             // messages on their way, nil: none
	breaks    func(op string, item vault.Item) error // the hub's disk, nil: never
	full      func(name, op string) bool             // the disks of members, nil: they have room
	heard     func(job.ID, protocol.Progress)
	noted     func(proposal []byte) // of sessions that members open, nil: nobody asks
	members   map[string]*member
}

// member is one life of a process.
type member struct {
	boss  *coordinator.Coordinator // or
	party *party.Party
	conn  transport.Conn
	disk  *vault.Disk
	life  *life
	stop  context.CancelFunc
	ended chan error
}

func newTestbed(t *testing.T, shares []partition.Share) *testbed {
	if testing.Short() {
		t.Skip("long: a whole federation")
	}
	w := &testbed{
		t: t, dir: t.TempDir(), places: make(map[string]string), network: mem.NewNetwork(), roster: &roster.Roster{Federation: "test"},
		keys: make(map[string]*identity.Identity), logs: &safeBuffer{}, tap: &tap{},
		tables: make(map[string]method.Table), policy: party.Policy{Protocols: all.Reader().Known().Protocols, OpenPrediction: true, Limits: party.NoLimits()},
		drawn: make(map[string][][32]byte), members: make(map[string]*member), orders: make(map[string][]string), recommended: make(map[string][]method.Recommendation), judged: make(map[string]*method.Judged),
	}
	w.join = w.network.Join
	w.enrol(hub, roster.Coordinator)
	for _, s := range shares {
		w.enrol(s.Party, roster.Party)
		s.Table.Together = nil // no daemon has the tables of all parties
		w.tables[s.Party] = s.Table
	}
	if err := w.roster.Validate(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for name := range w.members {
			w.halt(name)
		}
		if t.Failed() {
			t.Log(w.logs.String())
		}
	})
	return w
}

// lets has members run a job that says itself which classes its labels have, as the parties of simulate do.
func (w *testbed) lets(j *job.Job) *testbed {
	w.policy.Own, w.policy.Privacy = j.OwnWord() != nil, j.Protocol.Demands().Privacy
	return w
}

func (w *testbed) enrol(name string, role roster.Role) {
	id, err := identity.FromSeed(sha256.Sum256([]byte(name)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.keys[name] = id
	w.roster.Members = append(w.roster.Members, roster.Member{Name: name, Role: role, Public: id.Public()})
	conn, err := w.network.Join(name) // so that everybody has a queue
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// seed derives every seed from its label; each member and life gets equal seeds, unless
// the world is random.
func (w *testbed) seed(label string) [32]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := label
	if w.random {
		text = fmt.Sprint(label, len(w.drawn[label]))
	}
	seed := sha256.Sum256([]byte("seed/" + text))
	w.drawn[label] = append(w.drawn[label], seed)
	return seed
}

// hear passes the coordinator's progress on, if the test wants it.
func (w *testbed) hear(id job.ID, p protocol.Progress) {
	if w.heard != nil {
		w.heard(id, p)
	}
}

func (w *testbed) table(name string) method.Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tables[name]
}

// newSource names each party's table of rows that came after the job.
const newSource = "newcomers"

func (w *testbed) load(name string, d job.Data) (method.Table, error) {
	if w.reads != nil {
		return w.reads(name, d)
	}
	if d.Source != newSource {
		return w.table(name), nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.fresh[name]
	if !ok {
		return t, fmt.Errorf("the catalogue has no data called %q", d.Source)
	}
	return t, nil
}

// home returns the folder of a member's files.
func (w *testbed) home(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.places[name], filepath.Join(w.dir, name))
}

// place moves a member's home to another folder. A life that has begun stays in its folder.
func (w *testbed) place(name, dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places[name] = dir
}

// start begins a life of a member, which ends by itself when dies says so.
func (w *testbed) start(name string, dies func(op string) bool) {
	w.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	l := &life{dies: dies, stop: stop}
	disk, err := vault.OpenDisk(filepath.Join(w.home(name), "vault"), cmp.Or(w.program, "test"))
	if err != nil {
		w.t.Fatal(err)
	}
	if w.abandons {
		disk.Abandon()
	}
	conn, err := w.join(name)
	if err != nil {
		w.t.Fatal(err)
	}
	m := &member{conn: conn, disk: disk, life: l, stop: stop, ended: make(chan error, 1)}
	run, err := w.build(name, m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.members[name] = m
	go func() { m.ended <- run(ctx) }()
}

func (w *testbed) build(name string, m *member) (func(context.Context) error, error) {
	logger := w.logger(name)
	conn := mortalConn{tapped{m.conn, name, w.tap, w}, m.life}
	kept := mortalVault{noted{crowded{m.disk, w, name}, w}, m.life}
	usage := func() (float64, uint64) { return 0, 0 }
	artifacts, err := vault.OpenArtifacts(filepath.Join(w.home(name), "keepsakes"), w.keys[name].KEMKey())
	if err != nil {
		return nil, err
	}
	if name == hub {
		today, record := w.today, coordinator.Auditor(audit.Discard{})
		if r := w.record; r != nil {
			record = r
			today = func() (time.Time, bool) { defer r.asked.Store(true); return w.today() }
		}
		m.boss, err = coordinator.New(coordinator.Config{
			Reader: w.reader(), Identity: w.keys[hub], Roster: w.roster, Conn: conn, Vault: kept, Jobs: filepath.Join(w.home(hub), "jobs"),
			Artifacts: frail{artifacts, w}, Retention: w.retention, Today: today, Audit: record, MaxRunning: w.running, Own: w.policy.Own, Seed: w.seed, Usage: usage, Logger: logger, Progress: w.hear,
		})
		if err != nil {
			return nil, err
		}
		return m.boss.Run, nil
	}
	m.party = party.New(party.Config{
		Reader: w.reader(), Approved: w.dictionaries.Approved, Name: name, Identity: w.keys[name], Roster: w.roster, Conn: conn, Vault: kept, Retained: artifacts.States(), Policy: func(string) (party.Policy, error) { return w.policyOf(name), nil }, Limits: w.limits,
		Load: func(_ job.ID, d job.Data) (method.Table, error) { return w.load(name, d) }, Snapshots: vault.NewMemoryStates(), Consents: consent.Decisions(filepath.Join(w.home(name), "approvals")), Alignments: artifacts.Of(vault.Aligned),
		Seed: w.seed, Usage: usage, Logger: logger, Releases: w.releases(name), Audit: audit.Discard{},
		Aligned: func(id job.ID, ids []string) error {
			w.align(name, ids)
			return artifacts.Put(id, vault.Alignment, []byte(strings.Join(ids, "\n")))
		},
		Notified: func(id job.ID, lines []string) error {
			return artifacts.Put(id, vault.Notices, []byte(strings.Join(lines, "\n")))
		},
		Judged: func(id job.ID, own *method.Judged) error {
			b, err := json.Marshal(own)
			if err != nil {
				return err
			}
			w.judge(name, own)
			return artifacts.Put(id, vault.Figures, b)
		},
		Recommended: func(id job.ID, list []method.Recommendation) error {
			w.recommend(name, list)
			return artifacts.Put(id, vault.Recommendations, fmt.Append(nil, list))
		},
	})
	return m.party.Run, nil
}

func (w *testbed) logger(name string) *slog.Logger {
	return slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug})).With("member", name)
}

// releases is a party's ledger.
func (w *testbed) releases(name string) disclosure.Ledger {
	return disclosure.Ledger(filepath.Join(w.home(name), "releases"))
}

func (w *testbed) align(name string, ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders[name] = ids
}

// recommend keeps what a party's person is recommended.
func (w *testbed) recommend(name string, list []method.Recommendation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recommended[name] = list
}

func (w *testbed) policyOf(name string) party.Policy {
	if own, some := w.own[name]; some {
		return own
	}
	return w.policy
}

// judge keeps what a party with labels knows of held-out rows.
func (w *testbed) judge(name string, own *method.Judged) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.judged[name] = own
}

// judges lists the parties that know something of the last job's held-out rows, and what.
func (w *testbed) judges() (names []string, outcomes [][]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.judged)) {
		o := w.judged[name].Outcome
		names, outcomes = append(names, name), append(outcomes, append(o.Encode(), strings.Join(o.Held, "\n")...))
	}
	return names, outcomes
}

// aligned is the order of the last job's rows as a party has kept it.
func (w *testbed) aligned(name string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.orders[name]
}

// halt ends a life in good order; the next one finds its state.
func (w *testbed) halt(name string) {
	w.t.Helper()
	m, ok := w.members[name]
	if !ok {
		return
	}
	m.stop()
	select {
	case err := <-m.ended:
		if err != nil && !m.life.dead() {
			w.t.Errorf("%s: %v", name, err)
		}
	case <-time.After(20 * time.Second):
		w.t.Fatalf("%s does not stop", name)
	}
	if err := errors.Join(m.conn.Close(), m.disk.Close()); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
	delete(w.members, name)
}

// recordInMemory is a coordinator's record in memory.
type recordInMemory struct {
	mu     sync.Mutex
	events []audit.Event
	asked  atomic.Bool // whether the coordinator has asked for the time
}

func (r *recordInMemory) Append(e audit.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return nil
}

// has reports whether something was erased in whose line the text stands.
func (r *recordInMemory) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.events, func(e audit.Event) bool { return e.Kind == audit.Erased && strings.Contains(e.Outcome, text) })
}

// nobody submits the jobs of tests in which it does not matter who does.
var nobody access.Person

func never(string) bool { return false }

func (w *testbed) startAll() {
	w.t.Helper()
	for _, m := range w.roster.Members {
		if w.members[m.Name] == nil {
			w.start(m.Name, never)
		}
	}
}

// reader reads jobs with the dictionaries that all members have approved.
func (w *testbed) reader() *job.Reader { return all.Reader().Knowing(w.dictionaries.Find) }

func (w *testbed) submit(j *job.Job) job.ID {
	w.t.Helper()
	id, err := w.members[hub].boss.Submit(w.dictionaries.Approve(j), nobody)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// wait returns the job once it is over, while members that died come back.
func (w *testbed) wait(id job.ID) coordinator.Job {
	w.t.Helper()
	return w.waitFor(id, 30*time.Second)
}

// waitFor is wait with more patience.
func (w *testbed) waitFor(id job.ID, patience time.Duration) coordinator.Job {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, name := range w.dead() {
			w.halt(name)
			if name == hub && w.broker != nil {
				w.broker.restart()
			}
			w.start(name, never)
		}
		j, err := w.members[hub].boss.Get(id)
		if err != nil {
			w.t.Fatal(err)
		}
		if j.Over() {
			return j
		}
	}
	w.t.Fatal("the job does not end")
	return coordinator.Job{}
}

// untilDead waits for a death that was planned.
func (w *testbed) untilDead(name string) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); !w.members[name].life.dead(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s does not die as planned", name)
		}
	}
	w.halt(name)
}

func (w *testbed) dead() (names []string) {
	for name, m := range w.members {
		if m.life.dead() {
			names = append(names, name)
		}
	}
	return names
}

// run submits a job and returns it once it is over and all have confirmed.
func (w *testbed) run(j *job.Job) coordinator.Job {
	w.t.Helper()
	w.startAll()
	return w.wait(w.submit(j))
}

// mustRun is run for a job that ends well.
func (w *testbed) mustRun(j *job.Job) coordinator.Job {
	w.t.Helper()
	done := w.run(j)
	if done.Failure != nil {
		w.t.Fatalf("the job failed: %+v", done.Failure)
	}
	return done
}

// seeds returns all session seeds drawn so far, by label.
func (w *testbed) seeds() map[string][][32]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(map[string][][32]byte)
	for label, list := range w.drawn {
		if !strings.HasPrefix(label, "job/") {
			found[label] = slices.Clone(list)
		}
	}
	return found
}

// safeBuffer collects log lines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
