package job_test

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/described"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/learn/svm"

	. "github.com/mercer-fl/mercer/internal/job"

	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A report that leaves a setting out describes another method.
func TestTextsHaveEverySetting(t *testing.T) {
	for name, file := range variants() {
		j, err := reader().Parse(name, []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Spec struct{ Protocol, Learner, Kernel yaml.Node }
		}
		if err := yaml.Unmarshal(j.Encode(), &doc); err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			section yaml.Node
			text    string
		}{{doc.Spec.Protocol, j.Protocol.Text()}, {doc.Spec.Learner, j.Learner.Text()}, {doc.Spec.Kernel, j.Kernel.String()}} {
			if s.section.Kind == yaml.SequenceNode {
				continue // a grid of kernels: the page shows the chosen one
			}
			for i := 0; i+1 < len(s.section.Content); i += 2 {
				key, value := s.section.Content[i].Value, s.section.Content[i+1]
				switch {
				case key == "name" && strings.HasPrefix(s.text, value.Value):
				case key != "name" && strings.Contains(s.text, ", "+key+" = "):
				default:
					t.Errorf("%s: %q does not say %s", name, s.text, key)
				}
			}
		}
	}
}

func TestTexts(t *testing.T) {
	for want, got := range map[string]string{
		"svc, C = 10, tol = 1e-08, class_weight = {0: 2, malignant: 1.5}": Named{
			learner.SVC{}, &learner.SVC{Params: svm.Params{C: 10, Tol: 1e-8, Weights: map[string]float64{"malignant": 1.5, "0": 2}}},
		}.Text(),
		"moments, mode = hardened, directions = 512, targets = [-1, 2.5]": Named{
			Kind: sums.Protocol(), Values: &sums.Keys{Moded: Moded{Mode: Hardened}, Directions: 512, Labels: described.Labels{Targets: [2]float64{-1, 2.5}}},
		}.Text(),
		"fedcfk, corrupted = 0, dropped = 0, items = 13 entries": Named{Kind: fedcfk.Protocol(), Values: &fedcfk.Keys{Items: strings.Split("a b c d e f g h i j k l m", " ")}}.Text(),
		"rbf, gamma = 2, gamma_unit = median":                    Kernel{Name: RBF, Gamma: 2, GammaUnit: Median}.String(),
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
