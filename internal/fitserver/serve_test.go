package fitserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// ask sends requests and returns their answers.
func ask(t *testing.T, requests ...request) []answer {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(in, out) }()
	var list []answer
	for _, q := range requests {
		if err := writeFrame(toServer, q, q.Arrays); err != nil {
			t.Fatal(err)
		}
		list = append(list, readAnswer(t, fromServer))
	}
	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return list
}

func readAnswer(t *testing.T, r io.Reader) answer {
	t.Helper()
	var a answer
	if err := readHeader(r, &a); err != nil {
		t.Fatal(err)
	}
	for i := range a.Arrays {
		if err := a.Arrays[i].read(r); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func (a answer) array(name string) array {
	for _, b := range a.Arrays {
		if b.Name == name {
			return b
		}
	}
	return array{}
}

// rows draws n rows of two numbers, and their classes.
func rows(seed uint64, n, classes int) (linalg.Matrix[float64], []int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, codes := linalg.New[float64](n, 2), make([]int, n)
	for i := range n {
		codes[i] = i % classes
		x.Row(i)[0], x.Row(i)[1] = rng.NormFloat64()+float64(codes[i]), rng.NormFloat64()-float64(codes[i])
	}
	return x, codes
}

func one() *float64 {
	c := 1.0
	return &c
}

// TestFitAndDecide: a classifier that is fitted and used by requests has the decisions of package
// svm, for dense, sparse and precomputed kernels.
func TestFitAndDecide(t *testing.T) {
	x, codes := rows(1, 90, 3)
	z, _ := rows(2, 20, 3)
	spec := kernel.Spec{Name: "rbf", Gamma: 0.5}
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	gram := kernel.Materialize(kernel.Of(kernel.LinearGram(x), k))
	values := slices.Clone(gram.K.Data)
	roundToSingle(gram.K.Data)
	c, err := svm.TrainSVC(gram, codes, []string{"0", "1", "2"}, svm.Params{C: 1, Tol: 1e-6}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cross := kernel.CrossGram(z, x)
	kernel.Cross(k, cross, kernel.SquaredNorms(z), kernel.SquaredNorms(x))
	support := linalg.New[float64](z.Rows, len(c.Support()))
	for r := range z.Rows {
		copy(support.Row(r), linalg.At(cross.Row(r), c.Support()))
	}
	want := c.Decisions(support)
	fit := request{Op: "fit", Learner: "svc", Kernel: spec, Threads: 1, parameters: parameters{C: one(), Tol: 1e-6, Classes: 3}}
	dense, sparse, precomputed := fit, fit, fit
	dense.Arrays = []array{floatArray("X", x.Data, 90, 2), intArray("y", codes)}
	sparse.Columns = 2
	sparse.Arrays = append(csr("X", x), intArray("y", codes))
	precomputed.Kernel = kernel.Spec{Name: "precomputed"}
	precomputed.Arrays = []array{floatArray("K", values, 90, 90), intArray("y", codes)}
	for name, q := range map[string]request{"dense": dense, "sparse": sparse, "precomputed": precomputed} {
		got := ask(t, q)[0]
		if got.Error != "" || got.Unconverged != "" {
			t.Fatalf("%s: %+v", name, got)
		}
		if d := cmp.Diff(c.Support(), got.array("support").ints); d != "" {
			t.Errorf("%s: support vectors:\n%s", name, d)
		}
		coef := got.array("coef")
		decide := request{Op: "decide", Kernel: q.Kernel, Columns: 2, Arrays: []array{
			floatArray("coef", coef.floats, coef.Shape...), floatArray("rho", got.array("rho").floats, 3),
		}}
		vectors := linalg.New[float64](len(c.Support()), 2)
		for s, r := range c.Support() {
			copy(vectors.Row(s), x.Row(r))
		}
		switch name {
		case "dense":
			decide.Arrays = append(decide.Arrays, floatArray("X", z.Data, z.Rows, 2), floatArray("V", vectors.Data, vectors.Rows, 2))
		case "sparse":
			decide.Arrays = append(append(decide.Arrays, csr("X", z)...), csr("V", vectors)...)
		default:
			decide.Arrays = append(decide.Arrays, floatArray("K", support.Data, support.Rows, support.Cols))
		}
		decisions := ask(t, decide)[0]
		if decisions.Error != "" {
			t.Fatalf("%s: %s", name, decisions.Error)
		}
		for i, v := range decisions.array("D").floats {
			if math.Abs(v-want.Data[i]) > 1e-9 {
				t.Fatalf("%s: decision %d is %v, want %v", name, i, v, want.Data[i])
			}
		}
	}
}

// TestLastBitsChooseNoRow trains on measurements in steps of 0.1, where many rows tie, with the
// kernel values as they are and with their last bits changed, as another order of summation does.
func TestLastBitsChooseNoRow(t *testing.T) {
	x, codes := rows(5, 120, 3)
	for i, v := range x.Data {
		x.Data[i] = math.Round(10*v) / 10
	}
	values := kernel.LinearGram(x).Data
	fit := func(k []float64) request {
		return request{Op: "fit", Learner: "svc", Kernel: kernel.Spec{Name: "precomputed"}, Threads: 1,
			parameters: parameters{C: one(), Tol: 1e-3, Classes: 3}, Arrays: []array{floatArray("K", k, 120, 120), intArray("y", codes)}}
	}
	others := slices.Clone(values)
	for i := range 120 {
		for j := range i {
			v := math.Nextafter(values[120*i+j], float64(1-2*((i*j)%2))*math.MaxFloat64)
			others[120*i+j], others[120*j+i] = v, v
		}
	}
	want, got := ask(t, fit(values))[0], ask(t, fit(others))[0]
	for _, name := range []string{"support", "coef", "rho", "iterations"} {
		if d := cmp.Diff(want.array(name), got.array(name), cmp.AllowUnexported(array{})); d != "" {
			t.Errorf("%s with other last bits:\n%s", name, d)
		}
	}
}

// TestValuesBeyondFloat32 checks that they are kept: a training of theirs does not end by an infinity.
func TestValuesBeyondFloat32(t *testing.T) {
	values := []float64{1e39, -1e39, 0.1}
	roundToSingle(values)
	if d := cmp.Diff([]float64{1e39, -1e39, float64(float32(0.1))}, values); d != "" {
		t.Error(d)
	}
}

// csr returns the arrays of a matrix in SciPy's CSR format.
func csr(name string, m linalg.Matrix[float64]) []array {
	pointers, columns := []int{0}, []int(nil)
	for range m.Rows {
		columns = append(columns, linalg.Range(0, m.Cols)...)
		pointers = append(pointers, len(columns))
	}
	return []array{intArray(name+".indptr", pointers), intArray(name+".indices", columns), floatArray(name+".data", m.Data, len(m.Data))}
}

// TestEveryLearner: each learner answers, and what it refuses it says.
func TestEveryLearner(t *testing.T) {
	x, codes := rows(3, 40, 2)
	targets := make([]float64, 40)
	for i := range targets {
		targets[i] = x.Row(i)[0] * x.Row(i)[1]
	}
	base := request{Op: "fit", Kernel: kernel.Spec{Name: "rbf", Gamma: 0.3}, parameters: parameters{C: one(), Nu: 0.4, Epsilon: 0.1, Alpha: 1, Components: 2, Classes: 2}}
	rowsX := floatArray("X", x.Data, 40, 2)
	for learner, q := range map[string]struct {
		target array
		result []string
	}{
		"svc":       {intArray("y", codes), []string{"support", "coef", "rho", "iterations", "objective"}},
		"nu-svc":    {intArray("y", codes), []string{"support", "coef", "rho", "iterations", "objective"}},
		"svr":       {floatArray("y", targets, 40), []string{"support", "coef", "rho", "iterations", "objective"}},
		"nu-svr":    {floatArray("y", targets, 40), []string{"support", "coef", "rho", "iterations", "objective"}},
		"one-class": {floatArray("none", nil, 0), []string{"support", "coef", "rho", "iterations", "objective"}},
		"ridge":     {floatArray("y", targets, 20, 2), []string{"coef"}},
		"kpca":      {floatArray("none", nil, 0), []string{"values", "vectors", "means"}},
	} {
		r := base
		r.Learner, r.Arrays = learner, []array{rowsX, q.target}
		if learner == "ridge" {
			r.Arrays[1] = floatArray("y", append(targets, targets...), 40, 2)
		}
		a := ask(t, r)[0]
		var names []string
		for _, b := range a.Arrays {
			names = append(names, b.Name)
		}
		if d := cmp.Diff(q.result, names); d != "" || a.Error != "" {
			t.Errorf("%s: %s\n%s", learner, a.Error, d)
		}
		r.Arrays = []array{rowsX, floatArray("weights", make([]float64, 39), 39), q.target}
		r.Kernel.Gamma = -1
		if a := ask(t, r)[0]; a.Error == "" {
			t.Errorf("%s: gamma -1 is taken", learner)
		}
	}
	// Weights of whole numbers are weights, too.
	heavy := base
	heavy.Learner, heavy.Arrays = "svr", []array{rowsX, floatArray("y", targets[:40], 40), intArray("weights", make([]int, 40))}
	if a := ask(t, heavy)[0]; a.Error != "svm: no row has a weight above 0, so that there are no rows to learn from" {
		t.Errorf("weights of 0: %+v", a)
	}
	r := base
	r.Op, r.Learner, r.Arrays = "calibrate", "svc", []array{rowsX, intArray("y", codes)}
	r.MaxIter = 1
	answers := ask(t, request{Op: "guess"}, r)
	if answers[0].Error != `there is no operation "guess"` {
		t.Errorf("%+v", answers)
	}
	if len(answers[1].array("A").floats) != 1 || answers[1].Unconverged == "" {
		t.Errorf("one iteration: %+v", answers[1])
	}
	r.MaxIter = 0
	if a := ask(t, r)[0]; len(a.array("A").floats) != 1 || len(a.array("B").floats) != 1 {
		t.Errorf("%+v", a)
	}
	r.Op, r.MaxIter = "fit", 1
	if a := ask(t, r)[0]; a.Unconverged == "" || len(a.array("rho").floats) != 1 {
		t.Errorf("%+v", a)
	}
}

// TestCouple: decisions and sigmoids make the probabilities of package svm.
func TestCouple(t *testing.T) {
	decisions, _ := rows(7, 9, 2)
	d := linalg.Matrix[float64]{Rows: 6, Cols: 3, Stride: 3, Data: decisions.Data}
	sigmoids := []svm.Sigmoid{{A: -1, B: 0.1}, {A: -2}, {A: -0.5, B: -0.2}}
	want := (&svm.Calibration{Classes: 3, Sigmoids: sigmoids}).Probabilities(d)
	q := request{Op: "couple", parameters: parameters{Classes: 3}, Arrays: []array{
		floatArray("D", d.Data, 6, 3), floatArray("A", []float64{-1, -2, -0.5}, 3), floatArray("B", []float64{0.1, 0, -0.2}, 3),
	}}
	few := q
	few.Classes = 2
	answers := ask(t, q, few)
	if d := cmp.Diff(want.Data, answers[0].array("P").floats); d != "" {
		t.Error(d)
	}
	if answers[1].Error == "" {
		t.Error("3 decisions for 2 classes are taken")
	}
}

// TestRidgeWeights: a row of weight 2 counts as two rows, and a row of weight 0 as none.
func TestRidgeWeights(t *testing.T) {
	x, _ := rows(8, 6, 2)
	targets := []float64{1, -1, 2, 0.5, 3, 9}
	repeated := linalg.New[float64](6, 2)
	linalg.Gather(repeated, linalg.Pick(x, []int{0, 1, 1, 2, 3, 4}), 0)
	weights := []float64{1, 2, 1, 1, 1, 0}
	fit := request{Op: "fit", Learner: "ridge", Kernel: kernel.Spec{Name: "rbf", Gamma: 0.5}, parameters: parameters{Alpha: 0.7}}
	heavy, twice := fit, fit
	heavy.Arrays = []array{floatArray("X", x.Data, 6, 2), floatArray("y", targets, 6, 1), floatArray("weights", weights, 6)}
	twice.Arrays = []array{floatArray("X", repeated.Data, 6, 2), floatArray("y", []float64{1, -1, -1, 2, 0.5, 3}, 6, 1)}
	negative := heavy
	negative.Arrays = append(heavy.Arrays[:2:2], floatArray("weights", []float64{1, 1, 1, 1, 1, -1}, 6))
	short := heavy
	short.Arrays = append(heavy.Arrays[:2:2], floatArray("weights", weights[:5], 5))
	answers := ask(t, heavy, twice, negative, short)
	a, b := answers[0].array("coef").floats, answers[1].array("coef").floats
	for i, want := range []float64{b[0], b[1] + b[2], b[3], b[4], b[5], 0} {
		if math.Abs(a[i]-want) > 1e-12 {
			t.Errorf("coefficient %d is %v, want %v", i, a[i], want)
		}
	}
	if answers[2].Error == "" || answers[3].Error == "" {
		t.Errorf("a weight of -1 or too few weights are taken: %+v", answers[2:])
	}
}

// TestCauses: a caller can tell why a fit failed.
func TestCauses(t *testing.T) {
	broken := []float64{1, math.NaN(), math.NaN(), 1}
	ones := []float64{1, 1, 1, 1}
	q := func(learner string, k []float64, y array) request {
		return request{Op: "fit", Learner: learner, Kernel: kernel.Spec{Name: "precomputed"}, parameters: parameters{C: one(), Classes: 2},
			Arrays: []array{floatArray("K", k, 2, 2), y}}
	}
	classes, targets := intArray("y", []int{0, 1}), floatArray("y", []float64{0, 1}, 2, 1)
	answers := ask(t, q("svc", broken, classes), q("ridge", ones, targets), q("forest", ones, classes))
	for i, want := range []string{"not-finite", "not-positive-definite", ""} {
		if answers[i].Cause != want || answers[i].Error == "" {
			t.Errorf("request %d: %+v", i, answers[i])
		}
	}
}

// TestServeEndsWithItsInput: the end of the input ends the server while a training runs.
func TestServeEndsWithItsInput(t *testing.T) {
	in, writer := io.Pipe()
	done := make(chan error, 1)
	started := make(chan struct{})
	go func() { done <- Serve(in, blocked(started)) }()
	if err := writeFrame(writer, request{Op: "guess"}, nil); err != nil {
		t.Fatal(err)
	}
	<-started // the server answers, and nobody reads
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

type blocked chan struct{}

func (b blocked) Write([]byte) (int, error) {
	close(b)
	select {}
}

func TestBadFrames(t *testing.T) {
	frame := func(header string, rest ...byte) []byte {
		return append([]byte{byte(len(header)), byte(len(header) >> 8), 0, 0}, append([]byte(header), rest...)...)
	}
	for _, test := range []struct {
		in   []byte
		want string
	}{
		{[]byte{1, 0}, "fitserver: unexpected EOF"},
		{[]byte{0xff, 0xff, 0xff, 0xff}, "fitserver: the header has 4294967295 bytes, but at most 1048576 are allowed"},
		{[]byte{4, 0, 0, 0, '{'}, "fitserver: the header is cut off: unexpected EOF"},
		{frame(`{"arrays":[{"name":"X","type":"f4","shape":[1]}]}`), `fitserver: array "X" has the type "f4"; it must be f8, i8 or i4`},
		{frame(`{"arrays":[{"name":"X","type":"f8","shape":[-1]}]}`), `fitserver: array "X" has the shape [-1]; no number of a shape can be negative`},
		{frame(`{"arrays":[{"name":"X","type":"f8","shape":[4294967296,4294967296]}]}`), `fitserver: array "X" has the shape [4294967296 4294967296], which is more than 137438953472 numbers`},
		{frame(`{"arrays":[{"name":"X","type":"f8","shape":[]}]}`), `fitserver: array "X" has 0 dimensions, but must have 1 or 2`},
		{frame(`{"arrays":[{"name":"X","type":"f8","shape":[100000000000]}]}`, 1, 2), `fitserver: array "X" is cut off: unexpected EOF`},
	} {
		err := Serve(bytes.NewReader(test.in), io.Discard)
		if err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

// A request whose arrays do not fit each other gets an error, and the next one an answer.
func TestBadRequests(t *testing.T) {
	x, codes := rows(5, 6, 2)
	wide := linalg.New[float64](6, 3)
	spec, given := kernel.Spec{Name: "rbf", Gamma: 1}, kernel.Spec{Name: "precomputed"}
	ok := parameters{C: one(), Nu: 0.5, Classes: 2, Alpha: 1, Components: 1}
	rowsX, y := floatArray("X", x.Data, 6, 2), intArray("y", codes)
	fit := func(learner string, k kernel.Spec, arrays ...array) request {
		return request{Op: "fit", Learner: learner, Kernel: k, Columns: 2, parameters: ok, Arrays: arrays}
	}
	none, strange := fit("svc", spec, rowsX, y), fit("svc", spec, rowsX, y)
	none.Classes, strange.Learner = 0, "forest"
	many := fit("kpca", spec, rowsX)
	many.Components = 7 // of 6 rows
	decide := func(arrays ...array) request { return request{Op: "decide", Kernel: spec, Columns: 2, Arrays: arrays} }
	coef, rho := floatArray("coef", []float64{1, 1}, 1, 2), floatArray("rho", []float64{0}, 1)
	bad := map[string]request{
		"no rows":                 fit("svc", spec, floatArray("X", nil, 0, 2), intArray("y", nil)),
		"no array":                fit("svc", spec, y),
		"one dimension":           fit("svc", spec, floatArray("X", x.Data, 12), y),
		"too few labels":          fit("svc", spec, rowsX, intArray("y", codes[:5])),
		"a class that is not":     fit("svc", spec, rowsX, intArray("y", []int{0, 1, 2, 0, 1, -1})),
		"no classes":              none,
		"labels that are numbers": fit("svc", spec, rowsX, floatArray("y", make([]float64, 6), 6)),
		"no learner":              strange,
		"a kernel that is not":    fit("svc", kernel.Spec{Name: "sigmoid"}, rowsX, y),
		"a matrix that is wide":   fit("svc", given, floatArray("K", wide.Data, 6, 3), y),
		"too few targets":         fit("ridge", spec, rowsX, floatArray("y", make([]float64, 5), 5, 1)),
		"too many components":     many,
		"beginnings that descend": fit("svc", spec, intArray("X.indptr", []int{0, 3, 1}), intArray("X.indices", []int{0, 1, 0}), floatArray("X.data", make([]float64, 3), 3), y),
		"a column too far":        fit("svc", spec, intArray("X.indptr", []int{0, 1}), intArray("X.indices", []int{1 << 40}), floatArray("X.data", []float64{1}, 1), y),
		"no coefficients":         decide(rowsX, floatArray("V", x.Data[:4], 2, 2), rho),
		"rho for another machine": decide(rowsX, floatArray("V", x.Data[:4], 2, 2), coef, floatArray("rho", nil, 0)),
		"other columns":           decide(rowsX, floatArray("V", x.Data[:6], 2, 3), coef, rho),
		"too many vectors":        decide(rowsX, floatArray("V", x.Data[:6], 3, 2), coef, rho),
	}
	for name, q := range bad {
		if a := ask(t, q, fit("svc", spec, rowsX, y)); a[0].Error == "" || a[1].Error != "" {
			t.Errorf("%s: %q, and then %q", name, a[0].Error, a[1].Error)
		}
	}
}

// FuzzRequest: no bytes of a parent make the server panic.
func FuzzRequest(f *testing.F) {
	x, codes := rows(4, 6, 2)
	var frame bytes.Buffer
	q := request{Op: "fit", Learner: "svc", Kernel: kernel.Spec{Name: "linear"}, parameters: parameters{C: one(), Classes: 2},
		Arrays: []array{floatArray("X", x.Data, 6, 2), intArray("y", codes)}}
	if err := writeFrame(&frame, q, q.Arrays); err != nil {
		f.Fatal(err)
	}
	f.Add(frame.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := readRequest(bytes.NewReader(b))
		if err != nil {
			return
		}
		q.MaxIter = 100
		a, err := q.answer()
		if err == nil {
			if _, err := json.Marshal(a); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
		}
	})
}
