package coordinator_test

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/nats"
)

// broker is the one that daemons have, in the test's process.
type broker struct {
	w      *testbed
	cfg    nats.Config
	server *nats.Server
}

// onBroker moves a testbed from its network in memory to a broker, with all defaults
// of the daemons' but what change changes.
func (w *testbed) onBroker(change func(*nats.Config)) *broker {
	w.t.Helper()
	b := &broker{w: w, cfg: nats.Config{Dir: w.t.TempDir(), Center: hub}}
	for _, m := range w.roster.Members {
		b.cfg.Members = append(b.cfg.Members, nats.Member{Name: m.Name, Key: m.NKey})
	}
	if change != nil {
		change(&b.cfg)
	}
	b.start()
	w.t.Cleanup(b.stop)
	w.t.Cleanup(func() { // before, so that members leave a broker that is there
		for name := range w.members {
			w.halt(name)
		}
	})
	w.join, w.broker = b.dial, b
	return b
}

// restart starts the broker anew, where members look for it.
func (b *broker) restart() {
	b.w.t.Helper()
	b.stop()
	b.start()
}

func (b *broker) start() {
	b.w.t.Helper()
	var err error
	if b.server, err = nats.Start(b.w.t.Context(), b.cfg); err != nil {
		b.w.t.Fatal(err)
	}
	address, err := netip.ParseAddrPort(b.server.Addr())
	if err != nil {
		b.w.t.Fatal(err)
	}
	b.cfg.Port = int(address.Port())
}

func (b *broker) stop() {
	if err := b.server.Shutdown(context.Background()); err != nil {
		b.w.t.Error(err)
	}
}

func (b *broker) dial(name string) (transport.Conn, error) {
	return nats.Dial(b.w.t.Context(), b.server.URL(), name, b.w.keys[name].NKey(), nats.Options{})
}

// wideJob uploads rows of many columns.
const wideJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: wide}
spec:
  data: {source: wide, label: label, scale: none, partition: {parties: [north, south, east]}}
  protocol: {name: okra, wire: float64}
  kernel: {name: linear}
  learner: {name: svc, C: 10}
  timeout: {join: 10m, round: 10m}
`

// wide shares out rows that have enough columns for each row to fill a chunk.
func wide(rows map[string]int) (shares []partition.Share) {
	const columns = 33_000
	for _, name := range []string{"north", "south", "east"} {
		m := linalg.New[float32](rows[name], columns)
		r := rand.New(rand.NewPCG(1, uint64(rows[name])))
		for i := range m.Data {
			m.Data[i] = float32(r.IntN(256))
		}
		set := &dataset.Set{Name: "wide", X: dataset.NewDense32(m)}
		for i := range rows[name] {
			set.Labels = append(set.Labels, []string{"a", "b"}[i%2])
		}
		shares = append(shares, partition.Share{Party: name, Table: method.Table{Set: set, Key: dataset.SplitKey{1}}})
	}
	return shares
}

// Two of three parties are killed, everybody being honest: one before it announces
// its rows, while another has 300 chunks and more to send, and this one in the middle
// of them. They are away for a while, and what others sent to them and to the
// coordinator waits at the broker, more than it delivers to anybody unsettled. The job
// ends in the model that it has undisturbed, and nobody is blamed.
func TestKilledInALongUpload(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("uploads 170 MB through a broker")
	}
	j := jobtest.Parse(t, wideJob)
	shares := wide(map[string]int{"north": 320, "south": 3, "east": 4})
	want := uploads(t, j, shares, nil)
	var sent atomic.Int64
	got := uploads(t, j, shares, map[string]func(string) bool{
		"east":  func(op string) bool { return op == "send okra/Announce" },
		"north": func(op string) bool { return op == "send okra/Rows" && sent.Add(1) == 200 },
	})
	if got != want {
		t.Errorf("model %s, undisturbed %s", got, want)
	}
}

// uploads runs a job over a broker, in which some die once and are away for a
// while, and returns the hash of its model.
func uploads(t *testing.T, j *job.Job, shares []partition.Share, dies map[string]func(string) bool) string {
	t.Helper()
	w := newTestbed(t, shares)
	w.onBroker(nil)
	for _, m := range w.roster.Members {
		if die := dies[m.Name]; die != nil {
			w.start(m.Name, die)
		} else {
			w.start(m.Name, never)
		}
	}
	id := w.submit(j)
	for _, name := range []string{"east", "north"} { // in this order
		if dies[name] != nil {
			w.untilDead(name)
			time.Sleep(3 * time.Second)
			w.start(name, never)
		}
	}
	done := w.within(id, 10*time.Minute)
	if done.Failure != nil {
		t.Fatalf("the job failed: %+v", done.Failure)
	}
	for _, m := range w.roster.Members {
		w.halt(m.Name)
	}
	return done.Result.ModelHash
}

// within returns the job once it is over.
func (w *testbed) within(id job.ID, limit time.Duration) coordinator.Job {
	w.t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		j, err := w.members[hub].boss.Get(id)
		if err != nil {
			w.t.Fatal(err)
		}
		if j.Over() {
			return j
		}
	}
	w.t.Fatalf("the job is not over after %v", limit)
	return coordinator.Job{}
}

// A party of a finished job asks three hundred different questions and answers nothing that the
// coordinator sends. It represents a member with a program of its own that fills its whole share at the
// broker, in both lanes. A job of others is not affected, their questions are answered, and the
// coordinator's log names the party.
func TestAFloodOfQuestions(t *testing.T) {
	j := asItIs(t, openJob)
	w := newTestbed(t, tumours(t, j))
	w.random = true
	b := w.onBroker(nil)
	done := w.mustRun(j)
	w.halt("east")
	conn, err := b.dial("east")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	east := mail.New("east", w.keys["east"], w.roster, conn, w.logger("east"))
	for i := range 300 {
		q := control.Question{Job: done.ID, Rows: 1, Tag: [16]byte{1, byte(i), byte(i >> 8)}}
		if err := east.Tell(t.Context(), hub, control.Topic(done.ID), control.KindQuestion, q.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	pair := asItIs(t, "")
	pair.Data.Partition = job.Partition{By: job.Rows, Parties: []string{"north", "south"}}
	began := time.Now()
	if second := w.mustRunWithout(pair, "east"); time.Since(began) > pair.Timeout.Join {
		t.Errorf("job %v of others took %v", second.ID, time.Since(began))
	}
	if _, err := ask(w, "north", done.ID, newRows(t)); err != nil {
		t.Errorf("a question of another: %v", err)
	}
	if logs := w.logs.String(); !strings.Contains(logs, `"a party asks more questions at a time than it may" member=hub party=east`) {
		t.Error("the log does not name east")
	}
}

// A party's own questions, asked at once, are all answered: it sends one at a time.
func TestManyQuestionsAtOnce(t *testing.T) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	answered := make(chan error)
	const questions = 12
	for range questions {
		go func() {
			_, err := ask(w, "north", done.ID, newRows(t))
			answered <- err
		}()
	}
	for range questions {
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// A member fills its share of everybody's queues, by a program of its own: a job of
// others runs as if nothing were.
func TestAMemberThatFillsItsShare(t *testing.T) {
	t.Parallel()
	j := parse(t, "")
	j.Data.Partition = job.Partition{By: job.Rows, Parties: []string{"north", "south"}}
	w := newTestbed(t, tumours(t, parse(t, "")))
	b := w.onBroker(nil)
	east, err := b.dial("east")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := east.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		to   string
		lane transport.Lane
	}{{hub, transport.Control}, {hub, transport.Bulk}, {"north", transport.Bulk}, {"south", transport.Bulk}} {
		for {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			err := east.Send(ctx, c.to, c.lane, []byte("junk"))
			cancel()
			if err != nil {
				break
			}
		}
	}
	if done := w.mustRunWithout(j, "east"); !slices.Equal(done.Spec.Parties(), []string{"north", "south"}) {
		t.Errorf("the job was of %v", done.Spec.Parties())
	}
	if logs := w.logs.String(); !strings.Contains(logs, "sender=east") {
		t.Error("the log does not name east")
	}
}

// mustRunWithout is mustRun while one member is not there.
func (w *testbed) mustRunWithout(j *job.Job, absent string) coordinator.Job {
	w.t.Helper()
	for _, m := range w.roster.Members {
		if m.Name != absent && w.members[m.Name] == nil {
			w.start(m.Name, never)
		}
	}
	done := w.wait(w.submit(j))
	if done.Failure != nil {
		w.t.Fatalf("the job failed: %+v", done.Failure)
	}
	return done
}
