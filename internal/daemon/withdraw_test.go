package daemon

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// second is another dictionary of the same table, of which other rows are held out.
const second = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: second}
spec:
  columns: {krea: {}, visit: {}}
  complete: [krea]
  labels: {outcome: {}}
  fraction: 0.4
`

// approvedTwice is a home whose table is frozen for two dictionaries.
func approvedTwice(t *testing.T) (Home, *Config, []*job.Dictionary) {
	t.Helper()
	h, c, one := frozen(t, "id")
	two, err := job.ParseDictionary("second.yaml", []byte(second))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), two, "patients"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*job.Dictionary{one, two} {
		if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return h, c, []*job.Dictionary{one, two}
}

// idsOf lists whom jobs of a dictionary see, and how many of them are held out.
func idsOf(t *testing.T, h Home, c *Config, d *job.Dictionary, number byte) (ids []string, held []string) {
	t.Helper()
	table := takenBy(t, h, c, d, number, job.NoLabel)
	for _, i := range table.Held {
		held = append(held, table.Set.IDs[i])
	}
	return table.Set.IDs, held
}

// Withdrawn people are in no edition any more, and come back in no later one. Each group that the
// editions before and after tell apart has ten people: of training and of held-out rows of both
// dictionaries, those who went and those who stayed. Older editions are erased, and a second
// withdrawal, or the same command again, continues from there.
func TestWhoLeavesIsOutForGood(t *testing.T) {
	h, c, dicts := approvedTwice(t)
	var before, heldBefore [2][]string
	for k, d := range dicts {
		before[k], heldBefore[k] = idsOf(t, h, c, d, byte(10+k))
	}
	leaver := before[0][17]
	done, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{leaver})
	if err != nil {
		t.Fatal(err)
	}
	if done.People != 1 || done.Company < 9 || done.Company > 80 || len(done.Editions) != 2 {
		t.Errorf("%+v", done)
	}
	list, err := h.Editions().List()
	if err != nil || len(list) != 2 || list[0].Number != 2 || list[1].Number != 2 {
		t.Errorf("editions %+v, %v", list, err)
	}
	var after, heldAfter [2][]string
	for k, d := range dicts {
		after[k], heldAfter[k] = idsOf(t, h, c, d, byte(20+k))
		if slices.Contains(after[k], leaver) || len(after[k])+done.Company+1 < len(before[k]) {
			t.Errorf("%s: %d of %d people stay; %s among them: %t", d.Name, len(after[k]), len(before[k]), leaver, slices.Contains(after[k], leaver))
		}
		for _, id := range heldAfter[k] {
			if !slices.Contains(heldBefore[k], id) {
				t.Errorf("%s: %s was in training and is held out", d.Name, id)
			}
		}
	}
	for name, sizes := range groupsOf(before, heldBefore, after, heldAfter) {
		if sizes > 0 && sizes < edition.Least {
			t.Errorf("%d people are known as %s", sizes, name)
		}
	}
	again, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{leaver})
	if err != nil || again.Company != 0 || len(again.Editions) != 0 {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	h.put(t, "patients.csv", frozenTable(400))
	for k, d := range dicts {
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
			t.Fatal(err)
		}
		ids, _ := idsOf(t, h, c, d, byte(30+k))
		for _, id := range before[k] {
			if !slices.Contains(after[k], id) && slices.Contains(ids, id) {
				t.Errorf("%s: %s is back", d.Name, id)
			}
		}
	}
	stranger, err := h.WithdrawAhead(all.Reader(), "patients", []string{"p1000"})
	if err != nil || stranger.Company != 0 || len(stranger.Editions) != 0 {
		t.Errorf("somebody who is not there: %+v, %v", stranger, err)
	}
	data := dicts[0].Of("north") // a question without a dictionary sees the table, and nobody who has left
	data.Source, data.Dictionary, data.Schema, data.Read, data.Label, data.Test = "patients", nil, nil, nil, job.NoLabel, job.Test{}
	s := c.Data["patients"]
	s.Columns.Offered = []string{"age", "visit"}
	c.Data["patients"] = s
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	table, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{77}})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(table.Set.IDs, leaver) || table.Set.X.Rows() < 200 {
		t.Errorf("%v: a question without a dictionary sees %d rows", err, table.Set.X.Rows())
	}
}

// groupsOf counts whom two dictionaries' editions, before and after, tell apart: by who is in
// training, held out or absent in each.
func groupsOf(before, heldBefore, after, heldAfter [2][]string) map[string]int {
	sizes := make(map[string]int)
	for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(before[0], before[1])))) {
		name := ""
		for k := range 2 {
			for _, e := range []struct{ in, held []string }{{before[k], heldBefore[k]}, {after[k], heldAfter[k]}} {
				switch {
				case slices.Contains(e.held, id):
					name += "held out, "
				case slices.Contains(e.in, id):
					name += "training, "
				default:
					name += "absent, "
				}
			}
		}
		sizes[name]++
	}
	return sizes
}

// Two dictionaries read a cell that changes between their first editions: for the second one the
// table is not frozen.
func TestAttackOneChangesBetweenTwoDictionaries(t *testing.T) {
	h, _, _ := frozen(t, "id")
	two, err := job.ParseDictionary("second.yaml", []byte(second))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Dictionaries().Approve(two, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	one, err := job.ParseDictionary("cohort.yaml", []byte(cohort))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Dictionaries().Approve(one, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", strings.Replace(frozenTable(200), "\np9,23,81,", "\np9,23,82,", 1))
	var few *edition.LackError
	if _, err := h.Freeze(context.Background(), all.Reader(), two, "patients"); !errors.As(err, &few) || few.Lack != 9 {
		t.Errorf("%v", err)
	}
	h.put(t, "patients.csv", frozenTable(200))
	if _, err := h.Freeze(context.Background(), all.Reader(), two, "patients"); err != nil {
		t.Error(err)
	}
}

// Twelve of one group who leave together need no company; of a table with nobody left no edition
// stays.
func TestManyLeaveTogether(t *testing.T) {
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	ids, held := idsOf(t, h, c, d, 10)
	var training []string
	for _, id := range ids {
		if !slices.Contains(held, id) {
			training = append(training, id)
		}
	}
	done, err := h.Withdraw(t.Context(), all.Reader(), "patients", training[:12])
	if err != nil || done.Company != 0 || done.Editions[0].Training != len(training)-12 || done.Editions[0].HeldOut != len(held) {
		t.Errorf("%+v, %v", done, err)
	}
	few := len(training) - 12 - 5
	done, err = h.Withdraw(t.Context(), all.Reader(), "patients", training[12:12+few]) // five would be left
	if err != nil || done.Company != 5 || done.Editions[0].Training != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", held); err != nil {
		t.Fatal(err)
	}
	if list, err := h.Editions().List(); err != nil || len(list) > 0 {
		t.Errorf("editions of nobody: %v, %v", list, err)
	}
}

// plainJob loads the table itself, as a question without a dictionary does.
func plainJob(t *testing.T, h Home, c *Config, d *job.Dictionary) ([]string, error) {
	t.Helper()
	data := d.Of("north")
	data.Source, data.Dictionary, data.Schema, data.Read, data.Label, data.Test = "patients", nil, nil, nil, job.NoLabel, job.Test{}
	key, err := h.splitKey()
	if err != nil {
		t.Fatal(err)
	}
	table, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{77}})
	if err != nil {
		return nil, err
	}
	return table.Set.IDs, nil
}

func TestWithdrawalsThatAreRefused(t *testing.T) {
	h, _, _ := frozen(t, "")
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p1"}); err == nil || !strings.Contains(err.Error(), "has neither \"id\" nor \"group\"") {
		t.Error(err)
	}
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	entered(t, h, c, func(s *Source) { s.Columns.Offered = []string{"age", "krea", "visit"} })
	h.put(t, "patients.csv", strings.Replace(frozenTable(200), "\np3,41,,", "\np3,41,5,", 1))
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p1"}); err != nil {
		t.Fatal(err)
	}
	// Another split key changes nothing for those who have left.
	if err := h.RenewSplitKey(); err != nil {
		t.Fatal(err)
	}
	if ids, err := plainJob(t, h, c, d); err != nil || slices.Contains(ids, "p1") || len(ids) < 150 {
		t.Errorf("under another split key a question sees %d people, p1 among them: %t; %v", len(ids), slices.Contains(ids, "p1"), err)
	}
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p2"}); !errors.Is(err, edition.ErrOtherEntry) {
		t.Errorf("from editions under another split key: %v", err)
	}
	for name, edit := range map[string]func(*Source){
		"normalized": func(s *Source) { s.ID.Normalize = []string{"upper"} },
		"a group":    func(s *Source) { s.Group, s.Columns.Offered = "visit", []string{"age", "krea"} },
		"no ids":     func(s *Source) { s.ID, s.Group = job.OwnID{}, "" },
	} {
		entered(t, h, c, edit)
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); !errors.Is(err, edition.ErrLeaversUnknown) {
			t.Errorf("%s: frozen: %v", name, err)
		}
		if ids, err := plainJob(t, h, c, d); !errors.Is(err, edition.ErrLeaversUnknown) {
			t.Errorf("%s: a job sees %d people, %v", name, len(ids), err)
		}
		entered(t, h, c, func(s *Source) { s.ID = job.OwnID{}; s.ID.Columns, s.Group = []string{"id"}, "" })
	}
	if err := os.WriteFile(h.path("editions/list"), []byte("null"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err == nil || !strings.Contains(err.Error(), "restore the list from a backup") {
		t.Errorf("a list that cannot be read: %v", err)
	}
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p1"}); err == nil {
		t.Error("people leave a list that cannot be read")
	}
}

// People are named as the table writes them, whatever their ids are made of, and names without rows
// are reported.
func TestLeaversAreNamedAsTheTableWritesThem(t *testing.T) {
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	again := func(edit func(*Source)) {
		if err := os.RemoveAll(h.path("editions")); err != nil {
			t.Fatal(err)
		}
		entered(t, h, c, edit)
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
			t.Fatal(err)
		}
	}
	again(func(s *Source) { s.ID.Normalize = []string{"upper"} })
	done, err := h.WithdrawAhead(all.Reader(), "patients", []string{"p113", "p1000"})
	if ids, _ := idsOf(t, h, c, d, 3); err != nil || slices.Contains(ids, "P113") || !slices.Equal(done.Absent, []string{"P1000"}) || done.Company < 8 {
		t.Errorf("%+v, %v; P113 is there: %t", done, err, slices.Contains(ids, "P113"))
	}
	again(func(s *Source) { s.ID.Normalize, s.ID.Columns = nil, []string{"id", "visit"} })
	if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p113"}); err == nil || !strings.Contains(err.Error(), "give the cells of id, visit, separated by commas") {
		t.Errorf("half an id: %v", err)
	}
	done, err = h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p113,5"})
	if err != nil || len(done.Absent) > 0 || done.Company < 9 {
		t.Errorf("%+v, %v", done, err)
	}
}

// A freeze that has read the table, and a withdrawal: whichever is first, the other one waits.
func TestFreezingAndLeavingTakeTurns(t *testing.T) {
	h, c, d := frozen(t, "id")
	if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
		t.Fatal(err)
	}
	h.put(t, "patients.csv", frozenTable(400))
	left := []string{"p11", "p12", "p14", "p15"}
	var all4 sync.WaitGroup
	for i, name := range left {
		all4.Go(func() {
			if i%2 == 0 {
				if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
					t.Error(err)
				}
			}
			if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{name}); err != nil {
				t.Error(err)
			}
		})
	}
	all4.Wait()
	if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
		t.Error(err)
	}
	ids, _ := idsOf(t, h, c, d, 9)
	for _, name := range left {
		if slices.Contains(ids, name) {
			t.Errorf("%s is back", name)
		}
	}
}

// The entry offers a further label, and a cell changes: the earlier dictionary is read by the
// labels of its own edition, so that the change is seen.
func TestAttackAFurtherLabelHidesAChange(t *testing.T) {
	h, c, _ := frozen(t, "id")
	one, err := job.ParseDictionary("cohort.yaml", []byte(cohort))
	if err != nil {
		t.Fatal(err)
	}
	two, err := job.ParseDictionary("second.yaml", []byte(second))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(h.path("editions")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*job.Dictionary{one, two} {
		if err := h.Dictionaries().Approve(d, "patients", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	entered(t, h, c, func(s *Source) { s.Label = Labels{Columns: []string{"diagnosis"}} })
	if _, err := h.Freeze(context.Background(), all.Reader(), one, "patients"); err != nil {
		t.Fatal(err)
	}
	entered(t, h, c, func(s *Source) { s.Label = Labels{Columns: []string{"diagnosis", "outcome"}} })
	h.put(t, "patients.csv", strings.Replace(frozenTable(200), "\np9,23,81,", "\np9,23,82,", 1))
	var few *edition.LackError
	if _, err := h.Freeze(context.Background(), all.Reader(), two, "patients"); !errors.As(err, &few) {
		t.Errorf("%v", err)
	}
}
