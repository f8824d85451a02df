package rows

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// foldJob is a job whose folds go by patients.
func foldJob(folds int) *job.Job {
	return &job.Job{Data: job.Data{Folds: folds, Group: "patient"}}
}

// All training rows of a group are in one fold, held-out rows in no fold, and folds are as even as
// the groups allow: the largest is larger than the smallest by at most one group.
func TestGroupsAreDealtWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folds, party := rapid.IntRange(2, 6).Draw(t, "folds"), rapid.IntRange(0, 9).Draw(t, "party")
		s := method.Split{Set: &dataset.Set{}}
		held := make(map[string]bool)
		for i, n := range rapid.SliceOfN(rapid.IntRange(1, 7), 1, 30).Draw(t, "sizes") {
			group := fmt.Sprint("p", i)
			held[group] = rapid.Bool().Draw(t, "held out")
			for range n {
				s.Set.Groups, s.Test = append(s.Set.Groups, group), append(s.Test, held[group])
			}
		}
		of, sizes, largest := make(map[string]int), make([]int, folds), 0
		count := make(map[string]int)
		for i, f := range DealGroups(foldJob(folds), party, s) {
			group := s.Set.Groups[i]
			if before, seen := of[group]; (f == 0) != held[group] || seen && f != before || f > folds {
				t.Fatalf("row %d of group %s is in fold %d, others in %d; held out: %t", i, group, f, before, held[group])
			}
			of[group] = f
			if f > 0 {
				count[group]++
				sizes[f-1], largest = sizes[f-1]+1, max(largest, count[group])
			}
		}
		if slices.Max(sizes)-slices.Min(sizes) > largest {
			t.Fatalf("folds of %v rows, the largest group has %d", sizes, largest)
		}
	})
}

// The largest groups of two parties are in different folds.
func TestFoldsBeginElsewhereAtEachParty(t *testing.T) {
	s := method.Split{Set: &dataset.Set{Groups: []string{"a", "a", "b"}}, Test: make([]bool, 3)}
	for party, want := range [][]int{{1, 1, 2}, {2, 2, 3}, {3, 3, 1}, {1, 1, 2}} {
		if got := DealGroups(foldJob(3), party, s); !slices.Equal(got, want) {
			t.Errorf("party %d: %v, want %v", party, got, want)
		}
	}
}

// body writes folds, padded to a number of rows.
func body(rows int, folds ...uint32) []byte {
	var w wire.Writer
	for i := range rows {
		f := uint32(0)
		if i < len(folds) {
			f = folds[i]
		}
		w.Uint32(f)
	}
	return w.Bytes()
}

// Invalid folds are the party's fault; an empty fold is the job's.
func TestFoldsThatAreRefused(t *testing.T) {
	c := method.Instance{Job: foldJob(2), Parties: []string{"north", "south"}}
	test := []bool{false, false, true, false, true}
	counts := []int{3, 2}
	good := [][]byte{body(5, 1, 2, 0), body(5, 2, 0)}
	if got, err := readFolds(c, good, counts, test); err != nil || !slices.Equal(got, []int{1, 2, 0, 2, 0}) {
		t.Fatalf("folds %v, %v", got, err)
	}
	for name, tt := range map[string]struct {
		south []byte
		code  fault.Code
	}{
		"beyond the last":         {body(5, 3, 0), fault.CodeMisbehaved},
		"far beyond":              {body(5, 1<<31, 0), fault.CodeMisbehaved},
		"none of a training row":  {body(5, 0, 0), fault.CodeMisbehaved},
		"one of a held-out row":   {body(5, 1, 1), fault.CodeMisbehaved},
		"one behind the last row": {body(5, 1, 0, 0, 1), fault.CodeMisbehaved},
		"too short":               {body(1, 1), fault.CodeMisbehaved},
		"cut off":                 {body(5, 1, 0)[:19], fault.CodeMisbehaved},
	} {
		_, err := readFolds(c, [][]byte{good[0], tt.south}, counts, test)
		if fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), "south") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := readFolds(c, [][]byte{body(5, 1, 1, 0), body(5, 1, 0)}, counts, test)
	if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "fill 1 of 2 folds; use fewer folds") {
		t.Errorf("an empty fold: %v", err)
	}
}

func FuzzReadFold(f *testing.F) {
	f.Add(body(4, 1, 0, 2), uint8(3), uint8(2))
	f.Add([]byte{}, uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, rows, held uint8) {
		test := make([]bool, rows%16)
		for i := range test {
			test[i] = held>>(i%8)&1 == 1
		}
		folds, err := readFold(b, 5, test)
		if err != nil {
			return
		}
		var numbers []uint32
		for _, n := range folds {
			numbers = append(numbers, uint32(n))
		}
		if !slices.Equal(body(len(b)/foldBytes, numbers...), b) {
			t.Errorf("%x is read as %v", b, folds)
		}
	})
}
