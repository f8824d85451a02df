package job_test

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	okraroom "github.com/mercer-fl/mercer/internal/method/okra"

	. "github.com/mercer-fl/mercer/internal/job"

	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// TestAgreesWithThePackagesThatRunIt holds the job file's names, bounds and defaults against
// the names, bounds and defaults of the kernel, the protocol and the learner.
func TestAgreesWithThePackagesThatRunIt(t *testing.T) {
	for _, name := range kernel.Names() {
		if !slices.Contains(KernelNames(), KernelName(name)) {
			t.Errorf("kernel %s cannot be written in a job file", name)
		}
	}
	for name, text := range variants() {
		j, err := reader().Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kernel.New(j.Kernel.Spec()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkLearner(t, name, j.Learner)
		if p, ok := j.Protocol.Values.(*okraroom.Keys); ok {
			checkOKRA(t, name, p)
		}
	}
}

func checkLearner(t *testing.T, name string, one Named) {
	t.Helper()
	var err error
	switch l := one.Values.(type) {
	case *learner.SVC:
		err = l.Validate([]string{"0", "yes"})
	case *learner.SVR:
		err = l.Validate()
	case *learner.NuSVC:
		err = l.Validate()
	case *learner.OneClass:
		err = l.Validate()
	case *learner.GP:
		err = ridge.GPParams{Noise: l.Noise}.Validate()
	case *learner.KMeans:
		err = l.Validate(1000)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// Learners whose name is a kind of model have its shape; others say of which shape theirs are,
// or make none that package model holds.
func TestLearnersAreKindsOfModels(t *testing.T) {
	names := reader().Known().Learners
	for _, kind := range model.Kinds() {
		if !slices.Contains(names, string(kind)) {
			t.Errorf("there is no learner %s", kind)
		}
	}
	for _, l := range names {
		j := &Job{Learner: jobtest.Learner(t, l)}
		kind, task := learner.OutputOf(j, nil).Kind, j.Task()
		if learner.StepsOf(j) != nil || learner.ProfileOf(j) != nil || learner.TreesOf(j) != nil { // weights, a kernel between items, or trees
			continue
		}
		if kind.OutputShape() == "" || kind.Classifies() != task.Classes || kind.Regresses() != task.Numbers {
			t.Errorf("learner %s is kind %s", l, kind)
		}
	}
}

func checkOKRA(t *testing.T, name string, p *okraroom.Keys) {
	t.Helper()
	spec := okra.Spec{Encoder: string(p.Encoder), Wire: string(p.Wire), Mode: string(p.Mode), Rounds: p.Rounds}
	params, err := okra.NewParams(spec)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	filled := params.Spec()
	filled.BlockWidth = 0 // the job file leaves it to the protocol
	if d := cmp.Diff(spec, filled); d != "" {
		t.Errorf("%s: other defaults than the protocol's:\n%s", name, d)
	}
}
