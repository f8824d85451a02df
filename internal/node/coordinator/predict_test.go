package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

const openJob = "  prediction: open\n"

// newRows are rows of wdbc that no party trained on.
func newRows(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	return set.Subset(span(60, 80))
}

func columnNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("gene", i))
	}
	return names
}

func ask(w *testbed, name string, id job.ID, rows *dataset.Set) (*method.Prediction, error) {
	return w.ask(name, id, rows, "")
}

// ask has a party ask about rows of which others call theirs by the source.
func (w *testbed) ask(name string, id job.ID, rows *dataset.Set, source string) (*method.Prediction, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return w.members[name].party.Predict(ctx, id, rows, source)
}

func TestPredictNewRows(t *testing.T) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	rows := newRows(t)
	answer, err := ask(w, "north", done.ID, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(answer.Classes, []string{"0", "1"}) || len(answer.Predicted) != 20 || answer.Decisions.Rows != 20 {
		t.Fatalf("classes %v, %d predictions, %d decisions; want 0 and 1 for 20 rows", answer.Classes, len(answer.Predicted), answer.Decisions.Rows)
	}
	right := 0
	for i, label := range rows.Labels {
		if answer.Predicted[i] == label {
			right++
		}
	}
	if right < 17 {
		t.Errorf("%d of 20 new rows are predicted right; want 17 or more", right)
	}
	// Another party gets the same answer, in a session of its own.
	again, err := ask(w, "south", done.ID, rows)
	if err != nil || !slices.Equal(again.Decisions.Data, answer.Decisions.Data) {
		t.Errorf("south gets other decisions than north: %v", err)
	}
}

// A restarted federation answers too: models and retained states are on disk.
func TestPredictAfterARestart(t *testing.T) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	for _, m := range w.roster.Members {
		w.halt(m.Name)
	}
	w.startAll()
	if _, err := ask(w, "east", done.ID, newRows(t)); err != nil {
		t.Error(err)
	}
}

func TestPredictRefusals(t *testing.T) {
	shares := tumours(t, parse(t, ""))
	for _, s := range shares {
		s.Table.Set.Columns = columnNames(30)
	}
	w := newTestbed(t, shares)
	closed := w.mustRun(asItIs(t, "")).ID
	open := w.mustRun(asItIs(t, openJob)).ID
	pair := asItIs(t, openJob)
	pair.Data.Partition.Parties = []string{"north", "south"}
	two := w.mustRun(pair).ID
	wide := newRows(t)
	wide.Columns = columnNames(30)
	narrow := wide.SelectColumns(span(0, 29))
	renamed := wide.SelectColumns(span(0, 30))
	renamed.Columns = append([]string{"Gene0"}, wide.Columns[1:]...)
	tests := []struct {
		name, party string
		job         job.ID
		rows        *dataset.Set
		code        fault.Code
		want        string
	}{
		{"closed job", "north", closed, wide, fault.CodeBadInput, "retained no state here to encode new rows: it was submitted without \"prediction: open\", or forgotten, or the home was restored from a backup without it"},
		{"unknown job", "north", job.ID{7}, wide, fault.CodeBadInput, "retained no state here"},
		{"other parties' job", "east", two, wide, fault.CodeBadInput, "retained no state here"},
		{"fewer columns", "north", open, narrow, fault.CodeBadInput, `it has no column "gene29", which the training table has`},
		{"another spelling", "north", open, renamed, fault.CodeBadInput, `it has "Gene0" where the training table has "gene0", which differ only by case`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer, err := ask(w, tt.party, tt.job, tt.rows)
			if answer != nil || fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("answer %v, error %v with code %d; want %q with code %d", answer, err, fault.CodeOf(err), tt.want, tt.code)
			}
		})
	}
}

// A party that has erased its part of a model cannot ask about it; the others still can.
func TestForget(t *testing.T) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	epoch := w.encoder("north", done.ID).Epoch
	if _, err := w.members["north"].party.Forget(done.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.members["north"].party.Forget(done.ID); err != nil {
		t.Errorf("a second Forget: %v", err)
	}
	if _, err := ask(w, "north", done.ID, newRows(t)); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("north asks after it forgot: %v", err)
	}
	if hits := w.found([]needle{{"epoch seed", epoch[:]}}); len(hits) > 0 {
		t.Errorf("left on disk: %v", hits)
	}
	if _, err := ask(w, "south", done.ID, newRows(t)); err != nil {
		t.Errorf("south: %v", err)
	}
}

// A question dies with either process; the next question is answered, and no
// session is left behind.
func TestAQuestionCutShort(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, ops := range map[string][]string{
		hub:     {"create", "send control/Proposal", "send control/Directory", "append", "put report", "destroy", "ack control/Question"},
		"north": {"create", "send control/Acceptance", "put directory", "append", "destroy", "send control/Report"},
	} {
		for _, op := range ops {
			t.Run(name+"/"+op, func(t *testing.T) { cutShort(t, name, op) })
		}
	}
}

func cutShort(t *testing.T, name, op string) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	w.halt(name)
	w.start(name, onThe(1, op))
	rows := newRows(t)
	for range 2 { // the death may fall into the second

		_, err := w.askOn(done.ID, rows, "")
		t.Log("a question ended in:", err)
	}
	if _, err := w.askOn(done.ID, rows, ""); err != nil {
		t.Errorf("the last question: %v", err)
	}
	w.nothingOpen()
}

// askOn has north ask while members that died come back.
func (w *testbed) askOn(id job.ID, rows *dataset.Set, source string) (answer *method.Prediction, err error) {
	w.t.Helper()
	ended := make(chan struct{})
	for _, name := range w.dead() {
		w.halt(name)
		w.start(name, never)
	}
	north := w.members["north"]
	go func() {
		defer close(ended)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		answer, err = north.party.Predict(ctx, id, rows, source)
	}()
	for {
		select {
		case <-ended:
			return answer, err
		case <-time.After(10 * time.Millisecond):
			for _, name := range w.dead() {
				w.halt(name)
				w.start(name, never)
			}
		}
	}
}

// nothingOpen checks that no session is left in any vault, in a while.
func (w *testbed) nothingOpen() {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); w.documents() > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	for _, m := range w.roster.Members {
		w.halt(m.Name)
		w.start(m.Name, never)
		open, _, err := w.members[m.Name].disk.Open()
		if err == nil && len(open) > 0 {
			err = errors.New("sessions are open")
		}
		if err != nil {
			w.t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// documents counts the sessions whose documents are on some disk: those that are
// open.
func (w *testbed) documents() int {
	w.t.Helper()
	n := 0
	for _, m := range w.roster.Members {
		list, err := os.ReadDir(filepath.Join(w.home(m.Name), "vault", "documents"))
		if err != nil {
			w.t.Fatal(err)
		}
		n += len(list)
	}
	return n
}

// A question that nobody waits for any more leaves nothing.
func TestAWithdrawnQuestion(t *testing.T) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	w.halt(hub)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.members["north"].party.Predict(ctx, done.ID, newRows(t), ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	w.start(hub, never) // and answers a question that is not open any more
	if _, err := ask(w, "north", done.ID, newRows(t)); err != nil {
		t.Errorf("the next question: %v", err)
	}
	w.nothingOpen()
}

// A question to a stopped party returns an error.
func TestAskingAStoppedParty(t *testing.T) {
	j := parse(t, openJob)
	w := newTestbed(t, tumours(t, j))
	done := w.mustRun(j)
	north := w.members["north"].party
	w.halt("north")
	if _, err := north.Predict(context.Background(), done.ID, newRows(t), ""); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("error %v, want that the party has stopped", err)
	}
}
