package job_test

import (
	okraroom "github.com/mercer-fl/mercer/internal/method/okra"

	. "github.com/mercer-fl/mercer/internal/job"

	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// TestAgreesWithThePackagesThatRunIt holds the job file's names, bounds and
// defaults against those of the kernel, the protocol and the learner.
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

func checkLearner(t *testing.T, name string, l Learner) {
	t.Helper()
	var err error
	switch l.Name {
	case SVC:
		err = svm.Params{C: l.C, Tol: l.Tol, Weights: l.ClassWeight}.Validate([]string{"0", "yes"})
	case SVR:
		err = svm.SVRParams{C: l.C, Epsilon: l.Epsilon, Tol: l.Tol}.Validate()
	case NuSVC, OneClass:
		err = svm.NuParams{Nu: l.Nu, Tol: l.Tol}.Validate()
	case GP:
		err = ridge.GPParams{Noise: l.Noise}.Validate()
	case KMeans:
		err = kmeans.Params{Clusters: l.NClusters}.Validate(1000)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// The file's names of learners are those of models.
func TestLearnersAreKindsOfModels(t *testing.T) {
	for i, kind := range model.Kinds() {
		l := LearnerNames()[i]
		if string(kind) != string(l) || kind.Classifies() != l.Classifies() || kind.Regresses() != l.Regresses() {
			t.Errorf("learner %s is kind %s", l, kind)
		}
	}
	// A recommender's model is a kernel between items, those of
	// ridge-classifier, linear-svm and random features are weights.
	if rest := LearnerNames()[len(model.Kinds()):]; !slices.Equal(rest, append([]LearnerName{CFKOMD, RidgeClassifier, LinearSVM}, RandomLearners()...)) {
		t.Errorf("%v are no kinds of models", rest)
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
