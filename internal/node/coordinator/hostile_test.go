package coordinator_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
)

// actor plays a party: it answers each control message as the test says.
type actor struct {
	name string
	keys *identity.Identity
	x    *mail.Router
}

func (w *testbed) actor(name string, play func(a *actor, m protocol.Message)) *actor {
	w.t.Helper()
	conn, err := w.network.Join(name)
	if err != nil {
		w.t.Fatal(err)
	}
	a := &actor{name, w.keys[name], mail.New(name, w.keys[name], w.roster, conn, slog.New(slog.NewTextHandler(io.Discard, nil)))}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.x.Run(ctx) }()
	played := make(chan struct{})
	go func() {
		defer close(played)
		for {
			select {
			case <-ctx.Done():
				return
			case in := <-a.x.Control():
				play(a, in.Message)
				if err := in.Ack(); err != nil {
					w.t.Error(err)
				}
			}
		}
	}()
	w.t.Cleanup(func() {
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			w.t.Error(err)
		}
		<-played
		if err := conn.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return a
}

func (a *actor) tell(id protocol.SessionID, kind string, body []byte) {
	if err := a.x.Tell(context.Background(), hub, id, kind, body); err != nil {
		panic(err)
	}
}

// accept gives a session key as it should be.
func (a *actor) accept(id protocol.SessionID) {
	keys, err := identity.DeriveSession([32]byte{1})
	if err != nil {
		panic(err)
	}
	acceptance := control.Accept(id, a.name, keys.Public().Bytes(), a.keys.SigningKey())
	a.tell(id, control.KindAcceptance, acceptance.Encode())
}

// polite accepts proposals and confirms closings.
func polite(a *actor, m protocol.Message) {
	switch m.Kind {
	case control.KindProposal:
		a.accept(m.Session)
	case control.KindClosing:
		a.tell(m.Session, control.KindClosed, m.Body)
	}
}

// A dishonest party's messages are blamed on it, and never break the result.
func TestPartiesThatLie(t *testing.T) {
	report := func(r control.Report) func(*actor, protocol.Message) {
		return func(a *actor, m protocol.Message) {
			polite(a, m)
			if m.Kind == control.KindDirectory {
				a.tell(m.Session, control.KindReport, r.Encode())
			}
		}
	}
	proposed := func(kind string, body func(a *actor, m protocol.Message) []byte) func(*actor, protocol.Message) {
		return func(a *actor, m protocol.Message) {
			if m.Kind == control.KindProposal {
				a.tell(m.Session, kind, body(a, m))
				return
			}
			polite(a, m)
		}
	}
	junk := func(*actor, protocol.Message) []byte { return []byte("junk") }
	tests := []struct {
		name   string
		play   func(*actor, protocol.Message)
		code   fault.Code
		blamed string
		want   string
	}{
		{"time that is no number", report(control.Report{CPU: math.NaN()}), fault.CodeMisbehaved, "east", "processor time"},
		{"infinite time", report(control.Report{CPU: math.Inf(1)}), fault.CodeMisbehaved, "east", "processor time"},
		{"blames a stranger", report(control.Report{Notice: fault.Notice{Code: fault.CodeMisbehaved, Text: "x"}, Blamed: "west"}), fault.CodeMisbehaved, "east", `blames "west"`},
		{"blames another", report(control.Report{Notice: fault.Notice{Code: fault.CodeMisbehaved, Text: "it lies"}, Blamed: "south"}), fault.CodeMisbehaved, "south", "east reports: it lies"},
		{"gives up", report(control.Report{Notice: fault.Notice{Code: fault.CodeFailed, Text: "no power"}}), fault.CodeFailed, "", "east reports: no power"},
		{"junk for an acceptance", proposed(control.KindAcceptance, junk), fault.CodeMisbehaved, "east", "acceptance"},
		{"junk for a refusal", proposed(control.KindRefusal, junk), fault.CodeMisbehaved, "east", "refusal"},
		{"junk for a report", proposed(control.KindReport, junk), fault.CodeMisbehaved, "east", "report"},
		{"accepts in another's name", proposed(control.KindAcceptance, func(a *actor, m protocol.Message) []byte {
			other := control.Accept(m.Session, "south", []byte("key"), a.keys.SigningKey())
			return other.Encode()
		}), fault.CodeMisbehaved, "east", `names "south", which did not send it`},
		{"refuses", proposed(control.KindRefusal, func(*actor, protocol.Message) []byte {
			return (&control.Refusal{Notice: fault.Notice{Code: fault.CodePolicy, Text: "not with me"}}).Encode()
		}), fault.CodePolicy, "", "east refused: not with me"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := parse(t, "")
			w := newTestbed(t, tumours(t, j))
			for _, name := range []string{"north", "south"} {
				w.actor(name, polite)
			}
			w.actor("east", tt.play)
			w.start(hub, never)
			done := w.wait(w.submit(j))
			f := done.Failure
			if f == nil || f.Code != tt.code || f.Blamed != tt.blamed || !strings.Contains(f.Message, tt.want) {
				t.Errorf("failure %+v; want code %d, blamed %q, and %q", f, tt.code, tt.blamed, tt.want)
			}
			w.nothingOpenAt(hub)
		})
	}
}

func (w *testbed) nothingOpenAt(name string) {
	w.t.Helper()
	w.halt(name)
	w.start(name, never)
	if open, _, err := w.members[name].disk.Open(); err != nil || len(open) > 0 {
		w.t.Errorf("%s has %d open sessions, %v; want none", name, len(open), err)
	}
}

// A party that never comes is named, and the job ends.
func TestAPartyThatNeverComes(t *testing.T) {
	j := parse(t, "")
	j.Timeout.Join = 200 * time.Millisecond
	w := newTestbed(t, tumours(t, j))
	w.actor("north", polite)
	w.actor("south", polite)
	w.start(hub, never)
	f := w.wait(w.submit(j)).Failure
	if f == nil || f.Code != fault.CodeTimedOut || f.Blamed != "east" || !strings.Contains(f.Message, "did not join within 200ms") {
		t.Errorf("failure %+v; want a timeout that names east", f)
	}
	// Its closing waits for it at the broker.
	told := make(chan struct{}, 8)
	w.actor("east", func(_ *actor, m protocol.Message) {
		if m.Kind == control.KindClosing {
			told <- struct{}{}
		}
	})
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Error("the party that came late is not told to destroy the job's secrets")
	}
}

// Confirmations that never come delay a job's end only so long.
func TestAClosingThatIsNotConfirmed(t *testing.T) {
	j := parse(t, "")
	j.Timeout.Join = 200 * time.Millisecond
	w := newTestbed(t, tumours(t, j))
	for _, name := range []string{"north", "south"} {
		w.actor(name, polite)
	}
	w.actor("east", func(a *actor, m protocol.Message) {
		switch m.Kind {
		case control.KindProposal:
			a.tell(m.Session, control.KindRefusal, (&control.Refusal{Notice: fault.Notice{Code: fault.CodePolicy, Text: "no"}}).Encode())
		case control.KindClosing: // answers something else
			a.tell(m.Session, control.KindReport, (&control.Report{}).Encode())
		}
	})
	w.start(hub, never)
	done := w.wait(w.submit(j))
	if done.State != overview.Failed {
		t.Errorf("the job is %s, want failed", done.State)
	}
	if logs := w.logs.String(); !strings.Contains(logs, "parties [east] have not answered") {
		t.Errorf("the log does not name east, whose confirmation is missing")
	}
}

// Questions of those who may not ask are refused, in words.
func TestQuestionsThatAreRefused(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	closed := w.mustRun(asItIs(t, "")).ID
	pair := asItIs(t, openJob)
	pair.Data.Partition.Parties = []string{"north", "south"}
	two := w.mustRun(pair).ID
	w.halt("east")
	heard := make(chan *control.Refusal, 8)
	east := w.actor("east", func(_ *actor, m protocol.Message) {
		f, err := control.DecodeRefusal(m.Body)
		if err != nil {
			t.Error(err)
		}
		heard <- f
	})
	for _, tt := range []struct {
		job  job.ID
		code fault.Code
		want string
	}{
		{job.ID{7}, fault.CodeBadInput, "no such job"},
		{closed, fault.CodePolicy, "keeps predictions closed"},
		{two, fault.CodePolicy, "east took no part in job"},
	} {
		east.tell(control.Topic(tt.job), control.KindQuestion, (&control.Question{Job: tt.job, Rows: 1}).Encode())
		select {
		case f := <-heard:
			if f.Code != tt.code || !strings.Contains(f.Sentence(), tt.want) {
				t.Errorf("refused with %+v; want code %d and %q", f, tt.code, tt.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no answer; want %q", tt.want)
		}
	}
}

func TestSubmitRefuses(t *testing.T) {
	j := parse(t, "")
	w := newTestbed(t, tumours(t, j))
	w.start(hub, never)
	boss := w.members[hub].boss
	for want, parties := range map[string][]string{
		`party "west" is not in the roster`: {"north", "west"},
		`party "hub" is not in the roster`:  {"north", "hub"},
		"the job has 1 parties":             {"north"},
	} {
		j := parse(t, "")
		j.Data.Partition.Parties = parties
		if _, err := boss.Submit(j, nobody); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("parties %v: error %v, want %q", parties, err, want)
		}
	}
	if n := len(boss.List()); n != 0 {
		t.Errorf("%d jobs were queued", n)
	}
}

// Jobs that are submitted at once keep apart, also under predictable seeds.
func TestSubmitAtOnce(t *testing.T) {
	w := newTestbed(t, tumours(t, parse(t, "")))
	w.start(hub, never)
	boss := w.members[hub].boss
	ids := make(chan job.ID, 8)
	for range cap(ids) {
		j := parse(t, "")
		go func() {
			id, err := boss.Submit(j, nobody)
			if err != nil {
				t.Error(err)
			}
			ids <- id
		}()
	}
	var all []string
	for range cap(ids) {
		all = append(all, (<-ids).String())
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != cap(ids) {
		t.Errorf("%d different ids for %d jobs", n, cap(ids))
	}
	w.halt(hub)
	w.start(hub, never)
	for i, j := range w.members[hub].boss.List() {
		if j.Order != i {
			t.Errorf("job %d has number %d after a restart", i, j.Order)
		}
	}
}
