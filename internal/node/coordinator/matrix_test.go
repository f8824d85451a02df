package coordinator_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/nats"
)

// link is a line between a party and the broker, which can be cut.
type link struct {
	t        *testing.T
	listener net.Listener
	target   func() string // address of the broker now
	passing  sync.WaitGroup

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func newLink(t *testing.T, target func() string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{t: t, listener: listener, target: target}
	l.passing.Go(l.accept)
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		l.breaks()
		l.passing.Wait()
	})
	return l
}

func (l *link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.target())
		if err != nil {
			near.Close() //nolint:errcheck // the broker is away
			continue
		}
		l.mu.Lock()
		if l.conns = append(l.conns, near, far); l.cut {
			l.closeAll()
		}
		l.mu.Unlock()
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			l.passing.Go(func() {
				io.Copy(way[0], way[1]) //nolint:errcheck // the line is cut
				way[0].Close()          //nolint:errcheck // it may be closed
			})
		}
	}
}

// breaks cuts the line until it is mended.
func (l *link) breaks() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	l.closeAll()
}

func (l *link) mends() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

func (l *link) closeAll() {
	for _, c := range l.conns {
		c.Close() //nolint:errcheck // it may be closed
	}
	l.conns = nil
}

// matrixJob is a job of one protocol, with a message in its middle that the party sends.
type matrixJob struct {
	begin       func(t *testing.T) (*testbed, *job.Job)
	party, send string
	hub         string // an operation of the coordinator in its middle
}

// matrix lists a job of each protocol that an installation runs.
func matrix() map[string]matrixJob {
	small := func(of func(t *testing.T) *job.Job, rows int) func(t *testing.T) (*testbed, *job.Job) {
		return func(t *testing.T) (*testbed, *job.Job) {
			j := of(t)
			return newTestbed(t, firstTumours(t, j, rows)).lets(j), j
		}
	}
	return map[string]matrixJob{
		"okra":    {small(func(t *testing.T) *job.Job { return parse(t, "") }, 60), "north", "send okra/Rows", "send okra/"},
		"moments": {small(func(t *testing.T) *job.Job { return moments(t, "", "") }, 80), "north", "send secagg/MaskedInput", "send secagg/Survivors"},
		"sealed":  {small(func(t *testing.T) *job.Job { return sealedJob(t, "[north, south, east]") }, 569), "north", "send sealed/Opening", "put report"},
		"gram":    {small(func(t *testing.T) *job.Job { return columns(t) }, 60), "north", "send secagg/MaskedInput", "send secagg/Survivors"},
		"fdskl":   {small(func(t *testing.T) *job.Job { return phases(t, "{join: 20s, round: 20s}") }, 60), "north", "send fdskl/Request", "put report"},
		"fedcfk": {func(t *testing.T) (*testbed, *job.Job) {
			w, j, _ := newCinema(t)
			return w, j
		}, person(4), "send secagg/MaskedInput", "send secagg/Survivors"},
	}
}

// undisturbed returns the hash of the model of the job over a broker.
func (m matrixJob) undisturbed(t *testing.T) string {
	t.Helper()
	w, j := m.begin(t)
	w.onBroker(nil)
	w.startAll()
	done := w.waitFor(w.submit(j), 2*time.Minute)
	if done.Failure != nil {
		t.Fatalf("undisturbed: %+v", done.Failure)
	}
	return done.Result.ModelHash
}

// endsIn starts the members that have not started and runs the job. It must end in a model, whatever happened.
func (m matrixJob) endsIn(t *testing.T, w *testbed, j *job.Job, want string, happened func() bool) {
	t.Helper()
	w.startAll()
	done := w.waitFor(w.submit(j), 2*time.Minute)
	if done.Failure != nil || done.Result.ModelHash != want {
		t.Errorf("failure %+v; model %v, undisturbed %s", done.Failure, done.Result, want)
	}
	if !happened() {
		t.Error("it never came to that")
	}
}

// at returns a function that reports the first operation that begins with a text.
func at(op string) func(string) bool {
	var once sync.Once
	return func(now string) (is bool) {
		if strings.HasPrefix(now, op) {
			once.Do(func() { is = true })
		}
		return is
	}
}

// troubles befall a member in the middle of a job over a broker.
var troubles = map[string]func(t *testing.T, w *testbed, m matrixJob) (happened func() bool){
	// The line of a party is cut for longer than it takes to notice.
	"cut link": func(t *testing.T, w *testbed, m matrixJob) func() bool {
		l := newLink(t, func() string { return w.broker.server.Addr() })
		dial := w.join
		w.join = func(name string) (transport.Conn, error) {
			if name != m.party {
				return dial(name)
			}
			return nats.Dial(t.Context(), "nats://"+l.listener.Addr().String(), name, w.keys[name].NKey(), nats.Options{})
		}
		now, cut := at(m.send), make(chan struct{})
		w.start(m.party, func(op string) bool {
			if now(op) {
				l.breaks()
				time.AfterFunc(1500*time.Millisecond, l.mends)
				close(cut)
			}
			return false
		})
		return func() bool {
			select {
			case <-cut:
				return true
			default:
				return false
			}
		}
	},
	// The coordinator is killed, and the broker with it.
	"broker killed": func(_ *testing.T, w *testbed, m matrixJob) func() bool {
		now, died := at(m.hub), make(chan struct{})
		w.start(hub, func(op string) bool {
			is := now(op)
			if is {
				close(died)
			}
			return is
		})
		return func() bool {
			select {
			case <-died:
				return true
			default:
				return false
			}
		}
	},
}

// Whatever befalls a member, a job of any protocol ends in the model that it has undisturbed.
func TestTroublesOfEachProtocol(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a broker for each job")
	}
	for protocol, m := range matrix() {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			want := m.undisturbed(t)
			for trouble, befall := range troubles {
				t.Run(trouble, func(t *testing.T) {
					t.Parallel()
					w, j := m.begin(t)
					w.onBroker(nil)
					m.endsIn(t, w, j, want, befall(t, w, m))
				})
			}
			t.Run("full disk", func(t *testing.T) {
				t.Parallel()
				w, j := m.begin(t)
				w.onBroker(nil)
				f := &filling{name: m.party, op: "append", n: 6}
				w.full = f.is
				w.startAll()
				if done := w.conclude(w.submit(j), f, false); done.Failure != nil || done.Result.ModelHash != want {
					t.Errorf("failure %+v; model %v, undisturbed %s", done.Failure, done.Result, want)
				}
			})
		})
	}
}
