package rows

import (
	"errors"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// preparation makes a preparation of one column.
func preparation(t testing.TB, name string) *prepare.Preparation {
	t.Helper()
	plan, err := prepare.NewPlan(prepare.Numbers([]string{name}), prepare.Unscaled)
	if err != nil {
		t.Fatal(err)
	}
	made, err := plan.Fit(nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// The coordinator accepts equal statements, and names a party that states anything else. Under
// another key the digest differs, so nobody without the key can test guesses.
func TestStatementsAboutAPreparation(t *testing.T) {
	key := [32]byte{1}
	state := func(column string, key [32]byte) []byte {
		made := preparation(t, column)
		return stated(made, made.Hash(), key)
	}
	good, other := state("age", key), state("weight", key)
	if string(good) == string(state("age", [32]byte{2})) {
		t.Error("the digest does not depend on the key")
	}
	data := job.Data{Schema: prepare.Numbers([]string{"age"})}
	data.Schema[0].Missing = prepare.FillMedian
	for _, tt := range []struct {
		second        []byte
		blamed, wrong string
	}{
		{good, "", ""},
		{other, "", "north and south state different preparations"},
		{good[:20], "south", ""},
		{append([]byte{0, 0, 0, 0}, good[4:]...), "south", "0 prepared columns"},
		{append([]byte{255, 255, 255, 255}, good[4:]...), "south", "prepared columns"},
		{append(append([]byte{}, good...), 0), "south", ""},
	} {
		w := WitnessOf(method.Instance{Job: &job.Job{Data: data}, Parties: []string{"north", "south"}})
		err := w.storeStatement([]string{"north", "south"}, [][]byte{good, tt.second})
		var blame *protocol.BlameError
		switch {
		case tt.blamed != "" && (!errors.As(err, &blame) || blame.Party != tt.blamed):
			t.Errorf("%x: %v, want %s blamed", tt.second, err, tt.blamed)
		case tt.blamed == "" && tt.wrong != "" && (fault.CodeOf(err) != fault.CodeBadInput || errors.As(err, &blame)):
			t.Errorf("%x: %v", tt.second, err)
		case tt.wrong != "" && !strings.Contains(err.Error(), tt.wrong):
			t.Errorf("%x: %v, want %s", tt.second, err, tt.wrong)
		case tt.blamed == "" && tt.wrong == "" && err != nil:
			t.Error(err)
		}
		if got, _ := w.Prepared(); err == nil && (got == nil || got.Columns != 1 || !got.Keyed || len(got.Digest) != 64) {
			t.Errorf("the coordinator reads %+v", got)
		}
	}
}

func FuzzStatement(f *testing.F) {
	f.Add(statement{7, [32]byte{1}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := decodeStatement(b); err == nil && string(s.encode()) != string(b) {
			t.Errorf("%x is read as %+v", b, s)
		}
	})
}
