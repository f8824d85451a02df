package kernel_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/kernel"
)

const (
	known = "(the names are linear, rbf, polynomial, rational-quadratic, laplacian, matern, cosine, tanimoto, dot-product)"
	above = `a number above 0 (1e-100 to 1e100); scikit-learn's gamma="scale" is 1 / (features * variance of all entries)`
)

func TestKernelsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		spec kernel.Spec
		want string
	}{
		{kernel.Spec{}, `kernel: "" is not the name of a kernel ` + known},
		{kernel.Spec{Name: "rfb"}, `kernel: "rfb" is not the name of a kernel; did you mean "rbf"? ` + known},
		{kernel.Spec{Name: "poly"}, `kernel: "poly" is not the name of a kernel; did you mean "polynomial"? ` + known},
		{kernel.Spec{Name: "Rational_Quadratic"}, `kernel: "Rational_Quadratic" is not the name of a kernel; did you mean "rational-quadratic"? ` + known},
		{kernel.Spec{Name: "sigmoid"}, `kernel: "sigmoid" is not the name of a kernel ` + known},
		{kernel.Spec{Name: "rbf"}, "kernel: rbf needs the parameter gamma; it must be " + above},
		{kernel.Spec{Name: "laplacian"}, "kernel: laplacian needs the parameter gamma; it must be " + above},
		{kernel.Spec{Name: "rbf", Gamma: -1}, "kernel: gamma of rbf is -1; it must be " + above},
		{kernel.Spec{Name: "rbf", Gamma: math.NaN()}, "kernel: gamma of rbf is NaN; it must be " + above},
		{kernel.Spec{Name: "rbf", Gamma: math.Inf(1)}, "kernel: gamma of rbf is +Inf; it must be " + above},
		{kernel.Spec{Name: "rbf", Gamma: 1, Degree: 2}, "kernel: rbf has no parameter degree; it takes gamma, amplitude"},
		{kernel.Spec{Name: "linear", Gamma: 1}, "kernel: linear has no parameter gamma; it takes no parameters"},
		{kernel.Spec{Name: "polynomial", Gamma: 1, Degree: -1}, "kernel: degree of polynomial is -1; it must be 1 to 64"},
		{kernel.Spec{Name: "polynomial", Gamma: 1, Degree: 65}, "kernel: degree of polynomial is 65; it must be 1 to 64"},
		{kernel.Spec{Name: "polynomial", Gamma: 1, Coef0: -1}, "kernel: coef0 of polynomial is -1; it must be 0 or more, or the kernel is not positive semidefinite"},
		{kernel.Spec{Name: "matern", Nu: 1}, "kernel: nu of matern is 1; it must be 0.5, 1.5 or 2.5"},
		{kernel.Spec{Name: "rbf", Gamma: 1, Coefficients: []float64{0, 1}}, "kernel: rbf has no parameter coefficients; it takes gamma, amplitude"},
		{kernel.Spec{Name: "dot-product", Gamma: 1, Coefficients: []float64{0, 1}}, "kernel: dot-product has no parameter gamma; it takes coefficients"},
		{kernel.Spec{Name: "dot-product"}, "kernel: dot-product needs 2 to 65 coefficients, one for each power from 0 on, but 0 are given"},
		{kernel.Spec{Name: "dot-product", Coefficients: []float64{1}}, "kernel: dot-product needs 2 to 65 coefficients, one for each power from 0 on, but 1 are given"},
		{kernel.Spec{Name: "dot-product", Coefficients: make([]float64, 66)}, "kernel: dot-product needs 2 to 65 coefficients, one for each power from 0 on, but 66 are given"},
		{kernel.Spec{Name: "dot-product", Coefficients: []float64{0, -1, 1}}, "kernel: the coefficient of power 1 is -1; it must be 0 or a number above 0 (1e-100 to 1e100), because otherwise the kernel would not be positive semidefinite"},
		{kernel.Spec{Name: "dot-product", Coefficients: []float64{-1, 1}}, "kernel: the coefficient of power 0 is -1; it must be 0 or a number above 0 (1e-100 to 1e100), because otherwise the kernel would not be positive semidefinite"},
		{kernel.Spec{Name: "dot-product", Coefficients: []float64{0, math.NaN()}}, "kernel: the coefficient of power 1 is NaN; it must be 0 or a number above 0 (1e-100 to 1e100), because otherwise the kernel would not be positive semidefinite"},
		{kernel.Spec{Name: "dot-product", Coefficients: []float64{1, 1, 0}}, "kernel: the last coefficient is 0; remove it"},
		{kernel.Spec{Name: "rbf", Gamma: 1, Amplitude: -2}, "kernel: amplitude of rbf is -2; it must be a number above 0 (1e-100 to 1e100)"},
		{kernel.Spec{Name: "rational-quadratic", Amplitude: math.NaN()}, "kernel: amplitude of rational-quadratic is NaN; it must be a number above 0 (1e-100 to 1e100)"},
		{kernel.Spec{Name: "laplacian", Gamma: 1, Amplitude: 2}, "kernel: laplacian has no parameter amplitude; it takes gamma"},
		{kernel.Spec{Name: "rational-quadratic", Alpha: -2}, "kernel: alpha of rational-quadratic is -2; it must be a number above 0 (1e-100 to 1e100)"},
	} {
		if k, err := kernel.New(c.spec); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, %v\nwant %s", c.spec, k, err, c.want)
		}
		if text, err := c.spec.Canonical(); err == nil {
			t.Errorf("%v: the canonical form of an invalid kernel is %q", c.spec, text)
		}
	}
}

// The extreme parameters keep every kernel finite, and 1 or 0 where it must be.
func TestExtremeParameters(t *testing.T) {
	for _, v := range []float64{1e-100, 1e100} {
		for _, s := range []kernel.Spec{
			{Name: "rbf", Gamma: v},
			{Name: "laplacian", Gamma: v},
			{Name: "rational-quadratic", LengthScale: v, Alpha: v},
			{Name: "rational-quadratic", LengthScale: v, Alpha: 1 / v},
			{Name: "matern", LengthScale: v},
			{Name: "matern", LengthScale: v, Nu: 2.5},
		} {
			k := mustNew(t, s)
			if same, other := k.At(7, 7, 7), k.At(0, 7, 7); same != 1 || !(0 <= other && other <= 1) {
				t.Errorf("%v: %g with itself, %g with another", s, same, other)
			}
		}
	}
}

func TestNamesAreWhatNewKnows(t *testing.T) {
	var got []string
	for _, s := range specs() {
		got = append(got, mustNew(t, s).Name())
	}
	if d := cmp.Diff(kernel.Names(), slices.Compact(got)); d != "" {
		t.Error(d)
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct {
		spec kernel.Spec
		want string
	}{
		{kernel.Spec{Name: "linear"}, "linear"},
		{kernel.Spec{Name: "rbf", Gamma: 0.1}, "rbf gamma=0.1"},
		{kernel.Spec{Name: "rbf", Gamma: 0.1, Amplitude: 1}, "rbf gamma=0.1"},
		{kernel.Spec{Name: "rbf", Gamma: 0.1, Amplitude: 2.5}, "rbf gamma=0.1 amplitude=2.5"},
		{kernel.Spec{Name: "rational-quadratic", Amplitude: 4}, "rational-quadratic length_scale=1 alpha=1 amplitude=4"},
		{kernel.Spec{Name: "polynomial", Gamma: 1}, "polynomial gamma=1 coef0=0 degree=3"},
		{kernel.Spec{Name: "polynomial", Gamma: 1, Degree: 3}, "polynomial gamma=1 coef0=0 degree=3"},
		{kernel.Spec{Name: "polynomial", Gamma: 1, Degree: 1}, "polynomial gamma=1 coef0=0 degree=1"},
		{kernel.Spec{Name: "polynomial", Gamma: 1, Degree: 64}, "polynomial gamma=1 coef0=0 degree=64"},
		{kernel.Spec{Name: "rational-quadratic"}, "rational-quadratic length_scale=1 alpha=1"},
		{kernel.Spec{Name: "matern"}, "matern length_scale=1 nu=1.5"},
		{kernel.Spec{Name: "laplacian", Gamma: 1e-30}, "laplacian gamma=1e-30"},
		{kernel.Spec{Name: "dot-product", Coefficients: []float64{0, 1, 0.1}}, "dot-product coefficients=0,1,0.1"},
	} {
		got, err := c.spec.Canonical()
		if err != nil || got != c.want {
			t.Errorf("%v: %q, %v; want %q", c.spec, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"rbf gamma=0.50":                `kernel: the description "rbf gamma=0.50" is not canonical; it should read "rbf gamma=0.5"`,
		"rbf gamma=1 amplitude=1":       `kernel: the description "rbf gamma=1 amplitude=1" is not canonical; it should read "rbf gamma=1"`,
		"rbf gamma=1 amplitude=0":       `kernel: the description "rbf gamma=1 amplitude=0" is not canonical; it should read "rbf gamma=1"`,
		"rbf  gamma=0.5":                `kernel: the description "rbf  gamma=0.5" is not canonical; it should read "rbf gamma=0.5"`,
		"matern":                        `kernel: the description "matern" is not canonical; it should read "matern length_scale=1 nu=1.5"`,
		"rbf gamma=1 gamma=2":           `kernel: the description "rbf gamma=1 gamma=2" is not canonical; it should read "rbf gamma=2"`,
		"rbf sigma=1":                   `kernel: "sigma" is not a parameter of any kernel`,
		"rbf gamma=x":                   `kernel: the value of parameter "gamma=x" is not a number: strconv.ParseFloat: parsing "x": invalid syntax`,
		"polynomial gamma=1 degree=2.5": `kernel: the description "polynomial gamma=1 degree=2.5" is not canonical; it should read "polynomial gamma=1 coef0=0 degree=2"`,
		"dot-product coefficients=1,x":  `kernel: one of the coefficients is not a number: strconv.ParseFloat: parsing "x": invalid syntax`,
		"dot-product coefficients=1,":   `kernel: one of the coefficients is not a number: strconv.ParseFloat: parsing "": invalid syntax`,
		"dot-product coefficients=1,.5": `kernel: the description "dot-product coefficients=1,.5" is not canonical; it should read "dot-product coefficients=1,0.5"`,
		string(make([]byte, 3000)):      "kernel: the description has 3000 bytes; at most 2048 are allowed",
	} {
		if s, err := kernel.Parse(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v\nwant %s", text, s, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range specs() {
		text, err := s.Canonical()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add("polynomial gamma=1 coef0=0 degree=9223372036854775808")
	f.Add("rbf gamma=NaN")
	f.Add("rbf =")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := kernel.Parse(text)
		if err != nil {
			return
		}
		if again, err := s.Canonical(); err != nil || again != text {
			t.Fatalf("%q reads as %v, which writes as %q, %v", text, s, again, err)
		}
		if _, err := kernel.New(s); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func TestParseReadsCanonical(t *testing.T) {
	for _, s := range specs() {
		text, err := s.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		got, err := kernel.Parse(text)
		if d := cmp.Diff(s, got); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
}

func TestSpecInYAMLAndJSON(t *testing.T) {
	want := kernel.Spec{Name: "polynomial", Gamma: 0.5, Coef0: 1, Degree: 2, LengthScale: 3, Alpha: 4, Nu: 2.5, Coefficients: []float64{0, 1}}
	const text = "{name: polynomial, gamma: 0.5, coef0: 1, degree: 2, length_scale: 3, alpha: 4, nu: 2.5, coefficients: [0, 1]}"
	var got kernel.Spec
	decoder := yaml.NewDecoder(bytes.NewBufferString(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&got); err != nil || !cmp.Equal(want, got) {
		t.Errorf("from YAML: %v, %v", got, err)
	}
	encoded, err := json.Marshal(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil || string(encoded) != `{"name":"rbf","gamma":0.5}` {
		t.Errorf("to JSON: %s, %v", encoded, err)
	}
}

// The longest description that a kernel has is read back.
func TestTheLongestDescription(t *testing.T) {
	s := kernel.Spec{Name: "dot-product", Coefficients: slices.Repeat([]float64{1.2345678901234567e-100}, 65)}
	text, err := s.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := kernel.Parse(text); err != nil || !cmp.Equal(s, got) {
		t.Errorf("%d bytes: %v, %v", len(text), got, err)
	}
}
