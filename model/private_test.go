package model_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
)

func encodePrivate(t testing.TB, p *model.Private) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := model.EncodePrivate(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func private(t testing.TB) *model.Private {
	t.Helper()
	c := classifier(t, []string{"a", "b"}, 1, svm.Pair{Index: []int{0}, Coef: []float64{2}})
	m, err := model.New(kernel.Spec{Name: "rbf", Gamma: 2}, nil, matrix([]float64{0.5, 0.25}), model.Voters(model.SVC, c, nil))
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.NewPrivate(m)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPrivate(t *testing.T) {
	p := private(t)
	file := encodePrivate(t, p)
	if _, err := model.Open(bytes.NewReader(file)); !errors.Is(err, model.ErrPrivate) {
		t.Errorf("Open of a private file: %v", err)
	}
	if _, err := model.OpenPrivate(bytes.NewReader(encode(t, small(t)))); !errors.Is(err, model.ErrFormat) || err.Error() != "model: unusable file: the file holds a public model; a private model is expected" {
		t.Errorf("OpenPrivate of a public file: %v", err)
	}
	again, err := model.OpenPrivate(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, again, compareModels()); d != "" {
		t.Error(d)
	}
	if p.SHA256() != sha256.Sum256(file) {
		t.Error("SHA256 is not the hash of the file")
	}
	d, err := p.Decisions(matrix([]float64{0.5, 0.25}))
	if err != nil || d.Data[0] != 2 || p.Output().Predict(d)[0] != "a" {
		t.Errorf("decision %v, %v", d, err)
	}
	if !cmp.Equal(p.Kernel(), kernel.Spec{Name: "rbf", Gamma: 2}) || p.Width() != 2 || p.Support() != 1 || p.Output().Kind != model.SVC || len(p.Output().Classes) != 2 {
		t.Errorf("%s %v %v", p, p.Kernel(), p.Output())
	}
	if _, err := model.NewPrivate(small(t)); err == nil || err.Error() != "model: the private model has a scale; it must not have one, since parties scale rows before they encode them" {
		t.Errorf("a private model with a scale: %v", err)
	}
}

// TestPrivateDoesNotPrint: no way of formatting shows the encoded rows.
func TestPrivateDoesNotPrint(t *testing.T) {
	p := private(t)
	want := "private svc model over 1 encoded rows of width 2"
	for _, got := range []string{fmt.Sprintf("%v", p), fmt.Sprintf("%+v", p), fmt.Sprintf("%#v", p), fmt.Sprintf("%v", *p), fmt.Sprintf("%#v", *p)} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, v := range []any{p, *p} {
		if b, err := json.Marshal(v); err != nil || string(b) != "{}" {
			t.Errorf("JSON: %s, %v", b, err)
		}
	}
}
