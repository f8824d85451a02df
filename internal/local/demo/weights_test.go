package demo_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// Daemons read the weights of rows from their own tables, and the coordinator trains with them: the
// decisions are those of the pooled rows with their weights, and not those without. Each party's ledger
// lists the weights beside the rows.
func TestDeployedWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Setenv(beMercer, "yes")
	j := jobtest.Parse(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: weighted}
spec:
  data: {source: all, label: label, weight: times, partition: {parties: [north, south]}}
  protocol: {name: okra, wire: float64}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, tol: 1.0e-9}
  compare: [pooled]
`)
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("wdbc")
		for i := range set.X.Rows() {
			set.Weights = append(set.Weights, float64(i%5)-.5)
		}
		return set, err
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := demo.Found(demo.Config{Reader: all.Reader(), Program: []string{os.Args[0]}, Job: j, Shares: shares, Dir: folder(t), InsecureSeed: new(uint64(3))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
	id, err := f.Submit(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	r, o, err := f.Wait(ctx, id, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	if err := baseline.Compare(t.Context(), nil, j, shares, o, r); err != nil {
		t.Fatal(err)
	}
	if *r.Difference > 1e-7 || !strings.Contains(strings.Join(r.Leakage["server"], "\n"), "the weight of each training row exactly") {
		t.Errorf("the decisions differ by %g from those of pooled rows; leakage %q", *r.Difference, r.Leakage["server"])
	}
	plain := *j
	plain.Data.Weight = ""
	if err := baseline.Compare(t.Context(), nil, &plain, shares, o, r); err != nil {
		t.Fatal(err)
	}
	if *r.Difference < 1e-2 {
		t.Errorf("without weights the decisions differ by %g only", *r.Difference)
	}
	for _, s := range shares {
		list, err := f.Home(s.Party).Releases().List()
		if err != nil || len(list) != 1 || !slices.Contains(list[0].Also, method.ReleaseWeights) {
			t.Errorf("%s: releases %+v, %v", s.Party, list, err)
		}
	}
}
