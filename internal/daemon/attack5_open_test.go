package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// Found by attack, and not mended: these tests fail.

// Two homes with aligned tables let one person leave: each draws a company of its own.
func TestAttack5AlignedTablesPart(t *testing.T) {
	var list [2][]string
	for n := range list {
		h, c, key := undescribed(t, numbersTable(200))
		data := job.Data{Source: "patients", Label: "ill", Test: job.Test{Fraction: 0.25}, Partition: job.Partition{By: job.Columns, Aligned: true}}
		if _, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{1}}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Withdraw(all.Reader(), "patients", []string{"p7"}); err != nil {
			t.Fatal(err)
		}
		s, err := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{2}})
		if err != nil {
			t.Fatal(err)
		}
		list[n] = s.Set.IDs
	}
	if !slices.Equal(list[0], list[1]) {
		t.Errorf("tables of %d and %d rows that were aligned are not any more", len(list[0]), len(list[1]))
	}
}

// The columns of a file in another order.
func TestAttack5ColumnsInAnotherOrder(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	if _, err := sees(t, h, c, key, 1); err != nil {
		t.Fatal(err)
	}
	lines := []string{"id,krea,age,ill"}
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("p%d,%g,%d,%d", i, float64(i*i%97)/8, 20+i*7%60, i%2))
	}
	h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); err != nil {
		t.Errorf("the same columns in another order: %v", err)
	}
}

// A column comes. Jobs without a dictionary go on with the earlier edition, and questions about their models read the
// file, which has a column too many.
func TestAttack5QuestionsAfterANewColumn(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	trained, err := sees(t, h, c, key, 1)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(numbersTable(220)), "\n")
	for i := range lines {
		if i == 0 {
			lines[i] += ",bmi"
		} else {
			lines[i] += ",20"
		}
	}
	h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
	if again, err := sees(t, h, c, key, 2); err != nil || !slices.Equal(again.Set.Columns, trained.Set.Columns) {
		t.Errorf("a job: %v, %v", again.Set, err)
	}
	asked, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: job.NoLabel, Partition: job.Partition{By: job.Columns}}, key, snapshots{h.kept(t), job.ID{3}})
	if err == nil {
		_, err = method.LikeTraining(asked.Set, trained.Set.X.Cols(), trained.Set.Columns)
	}
	if err != nil {
		t.Errorf("a question: %v", err)
	}
}
