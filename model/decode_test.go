package model_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/model"
)

const prefix = 18 // magic, version, length

// seal gives a content, with prefix and without checksum, the length and the
// checksum it should have.
func seal(content []byte) []byte {
	b := bytes.Clone(content)
	binary.LittleEndian.PutUint64(b[10:], uint64(len(b)+sha256.Size))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// file is a model as doc.go lays it out, to be spoilt field by field.
type file struct {
	magic      string
	version    uint16
	kind       string
	kernel     string
	width      uint32
	vectors    uint32
	number     uint8
	scale      uint8
	count      uint32
	classes    []string
	functions  uint32
	factors    []float64 // offsets, then factors
	single     []float32
	double     []float64
	rho        float64
	coefs      uint32
	index      []uint32
	coef       []float64
	more       []byte // the flag of a calibration
	afterwards []byte
}

// sound is a model of two one-number vectors that Open takes.
func sound() file {
	return file{
		magic: "MERCER\x00M", version: 1, kind: "svc", kernel: "linear", width: 1, vectors: 2, number: 4, scale: 1,
		count: 2, classes: []string{"a", "b"}, functions: 1, factors: []float64{1, 2}, single: []float32{0.5, 3},
		rho: 1, coefs: 2, index: []uint32{0, 1}, coef: []float64{1, -1}, more: []byte{0},
	}
}

func (f file) bytes() []byte {
	var w wire.Writer
	w.Fixed([]byte(f.magic))
	w.Uint16(f.version)
	w.Uint64(0)
	w.String(f.kind)
	w.String(f.kernel)
	w.Uint32(f.width)
	w.Uint32(f.vectors)
	w.Uint8(f.number)
	w.Uint8(f.scale)
	w.Uint32(f.count)
	for _, c := range f.classes {
		w.String(c)
	}
	w.Uint32(f.functions)
	w.Float64s(f.factors)
	w.Float32s(f.single)
	w.Float64s(f.double)
	w.Float64(f.rho)
	w.Uint32(f.coefs)
	for _, s := range f.index {
		w.Uint32(s)
	}
	w.Float64s(f.coef)
	w.Fixed(f.more)
	return append(seal(w.Bytes()), f.afterwards...)
}

// TestLayout: what Encode writes is the table of doc.go, written by hand.
func TestLayout(t *testing.T) {
	m, err := model.Open(bytes.NewReader(sound().bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(t, m); !bytes.Equal(got, sound().bytes()) {
		t.Errorf("got  %x\nwant %x", got, sound().bytes())
	}
}

func TestBrokenFiles(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*file)
		want  string // after "model: unusable file: "
	}{
		{"magic", func(f *file) { f.magic = "PK\x03\x04abcd" }, `the file is not a model of Mercer; it begins with "PK\x03\x04abcd"`},
		{"newer version", func(f *file) { f.version = 3 }, `the file has version 3, but this program reads versions up to 2; use the program that wrote the file`},
		{"names beyond the end", func(f *file) { f.version, f.width = 2, 1<<20 }, `its content: the bytes end too early`},
		{"goes on", func(f *file) { f.afterwards = []byte{0} }, `the file has more than the 148 bytes that its prefix states; copy the file again`},
		{"type", func(f *file) { f.kind = "tree" }, `its content: the model is of kind "tree"; this program knows the kinds ["svc" "nu-svc" "one-class" "svr" "ridge" "gp" "kpca" "kmeans"]`},
		{"long type", func(f *file) { f.kind = strings.Repeat("x", 33) }, `its content: a name has 33 bytes; at most 32 are allowed`},
		{"number size", func(f *file) { f.number = 2 }, `its content: each number has 2 bytes; 4 or 8 are allowed`},
		{"scale flag", func(f *file) { f.scale = 7 }, `its content: a flag is 7; it must be 0 or 1`},
		{"absurd classes", func(f *file) { f.count = 65_536 }, `its content: a count is 65536; at most 4096 are allowed`},
		{"classes beyond the end", func(f *file) { f.count = 4096 }, `its content: the bytes end too early`},
		{"absurd width", func(f *file) { f.width = math.MaxUint32 }, `its content: the model has 2 support vectors of 4294967295 numbers; 0 to 67108864 vectors of 1 to 67108864 numbers are allowed`},
		{"width beyond the end", func(f *file) { f.width = 1 << 26 }, `its content: the bytes end too early`},
		{"no width", func(f *file) { f.width = 0 }, `its content: the model has 2 support vectors of 0 numbers; 0 to 67108864 vectors of 1 to 67108864 numbers are allowed`},
		{"absurd vectors", func(f *file) { f.vectors = 1<<26 + 1 }, `its content: the model has 67108865 support vectors of 1 numbers; 0 to 67108864 vectors of 1 to 67108864 numbers are allowed`},
		{"vectors beyond the end", func(f *file) { f.vectors = 1 << 26 }, `its content: the bytes end too early`},
		{"no vectors", func(f *file) { f.vectors = 0 }, `its content: 32 bytes are left over`},
		{"coefficients", func(f *file) { f.coefs = 3 }, `its content: a count is 3; at most 2 are allowed`},
		{"too long", func(f *file) { f.more = make([]byte, 5) }, `its content: 4 bytes are left over`},
		{"one class", func(f *file) { f.count, f.classes = 1, []string{"a"} }, `svm: there is only the class "a": a classifier needs rows of at least two classes`},
		{"no class", func(f *file) { f.count, f.classes = 0, nil }, `svm: there are no classes: a classifier needs rows of at least two classes`},
		{"absurd functions", func(f *file) { f.functions = math.MaxUint32 }, `its content: the bytes end too early`},
		{"functions beyond the pairs", func(f *file) { f.functions, f.more = 2, make([]byte, 13) }, `svm: there are 2 pairs for 2 classes, but there must be 1`},
		{"calibration flag", func(f *file) { f.more = []byte{2} }, `its content: a flag is 2; it must be 0 or 1`},
		{"calibration beyond the end", func(f *file) { f.more = []byte{1, 0} }, `its content: the bytes end too early`},
		{"infinite sigmoid", func(f *file) { f.more = append(make([]byte, 15), 0xf0, 0x7f); f.more[0] = 1 }, `sigmoid 0 is (0, +Inf); both numbers must be finite`},
		{"a row nobody needs", func(f *file) { f.coefs, f.index, f.coef = 1, []uint32{1}, []float64{1} }, `no function uses row 0 of 2; leave the row out`},
		{"classes of a regression", func(f *file) { f.kind, f.more = "svr", nil }, `model: an svr model cannot have 2 classes`},
		{"two functions of a regression", func(f *file) { f.kind, f.count, f.classes, f.functions, f.more = "svr", 0, nil, 2, make([]byte, 12) }, `model: an svr model of 0 classes cannot have 2 outputs`},
		{"process without a unit", func(f *file) { f.kind, f.count, f.classes, f.more = "gp", 0, nil, make([]byte, 16) }, `the noise is 0 and the unit is 0; both must be finite, the noise at least 0 and the unit above 0`},
		{"process cut short", func(f *file) { f.kind, f.count, f.classes, f.more = "gp", 0, nil, make([]byte, 8) }, `its content: the bytes end too early`},
		{"same class twice", func(f *file) { f.classes[1] = "a" }, `svm: class "a" is listed twice`},
		{"NaN coefficient", func(f *file) { f.coef[1] = math.NaN() }, `svm: classes "a" and "b": coefficient 1 is NaN; it must be finite and not 0`},
		{"zero coefficient", func(f *file) { f.coef[1] = 0 }, `svm: classes "a" and "b": coefficient 1 is 0; it must be finite and not 0`},
		{"infinite rho", func(f *file) { f.rho = math.Inf(1) }, `svm: classes "a" and "b": rho is +Inf; it must be finite`},
		{"index", func(f *file) { f.index[1] = 2 }, `svm: classes "a" and "b": support vector index 2 follows index 0; indices must increase and be below 2`},
		{"order", func(f *file) { f.index[0] = 1 }, `svm: classes "a" and "b": support vector index 1 follows index 1; indices must increase and be below 2`},
		{"NaN vector", func(f *file) { f.single[1] = float32(math.NaN()) }, `support vector 1 holds NaN in column 0; numbers must be finite`},
		{"infinite factor", func(f *file) { f.factors[1] = math.Inf(1) }, `the factor of column 0 is +Inf; it must be finite`},
		{"wasteful", func(f *file) { f.number, f.single, f.double = 8, nil, []float64{0.5, 3} }, `the support vectors have numbers of 8 bytes; use 4 bytes, which hold every number exactly`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := sound()
			test.spoil(&f)
			_, err := model.Open(bytes.NewReader(f.bytes()))
			want := "model: unusable file: " + test.want
			if !errors.Is(err, model.ErrFormat) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// TestForeignKernel: the file's error shows the reason of package kernel's refusal.
func TestForeignKernel(t *testing.T) {
	for _, text := range []string{"magic", "rbf gamma=-1", "rbf gamma=NaN", "rbf  gamma=1", "rbf gamma=1.0", "linear gamma=1", "", strings.Repeat("a", 257)} {
		f := sound()
		f.kernel = text
		_, err := model.Open(bytes.NewReader(f.bytes()))
		if !errors.Is(err, model.ErrFormat) || !strings.HasPrefix(err.Error(), "model: unusable file: its content: ") {
			t.Errorf("kernel %q: %v", text, err)
		}
	}
}

// TestDamage: every truncation and every flipped bit is an error that names
// what happened, for both kinds.
func TestDamage(t *testing.T) {
	for _, whole := range [][]byte{encode(t, small(t)), encodePrivate(t, private(t))} {
		open := func(b []byte) error {
			_, err := model.Open(bytes.NewReader(b))
			if errors.Is(err, model.ErrPrivate) {
				_, err = model.OpenPrivate(bytes.NewReader(b))
			}
			return err
		}
		for n := range whole {
			if err := open(whole[:n]); !errors.Is(err, model.ErrFormat) {
				t.Fatalf("the first %d bytes: %v", n, err)
			}
		}
		for bit := range 8 * len(whole) {
			b := bytes.Clone(whole)
			b[bit/8] ^= 1 << (bit % 8)
			if err := open(b); err == nil {
				t.Fatalf("bit %d flipped, no error", bit)
			}
		}
	}
	whole := encode(t, small(t))
	for _, test := range []struct {
		b    []byte
		want string
	}{
		{nil, `the file is not a model of Mercer; it begins with ""`},
		{[]byte("\x0e\x00mercer/v1/gram and the rest"), "the file is the coordinator's part of a model of protocol gram, which predicts nothing alone; use mercer predict --job ID at a party"},
		{[]byte("\x0f\x00mercer/v1/fdskl"), "the file is the coordinator's part of a model of protocol fdskl, which predicts nothing alone; use mercer predict --job ID at a party"},
		{[]byte("\x15\x00mercer/v1/secureboost and the rest"), "the file is the coordinator's part of a model of protocol secureboost, which predicts nothing alone; this protocol is for comparisons and does not predict new rows"},
		{[]byte("\x0f\x00mercer/v1/gram and the rest"), `the file is not a model of Mercer; it begins with "\x0f\x00mercer"`},
		{[]byte("\x0e\x00mercer/v1/gra"), `the file is not a model of Mercer; it begins with "\x0e\x00mercer"`},
		{whole[:9], `the file ends after 9 bytes; copy it again`},
		{whole[:12], `the file ends after 12 bytes; copy it again`},
		{whole[:100], `the file ends after 100 of 196 bytes; copy it again`},
		{append(bytes.Clone(whole[:len(whole)-1]), whole[len(whole)-1]^1), `the file is damaged, since its checksum is wrong; copy the file again`},
		{append(append(bytes.Clone(whole[:10]), 40, 0, 0, 0, 0, 0, 0, 0), whole[18:]...), `the file claims to have 40 bytes, which is too short for a model`},
		{append(append(bytes.Clone(whole[:10]), 255, 255, 255, 255, 255, 255, 255, 255), whole[18:]...), `the file claims to have 18446744073709551615 bytes; at most 4294967296 are allowed`},
	} {
		_, err := model.Open(bytes.NewReader(test.b))
		if want := "model: unusable file: " + test.want; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	whole := encode(t, small(t))
	if _, err := (model.Limits{Bytes: int64(len(whole))}).Open(bytes.NewReader(whole)); err != nil {
		t.Error(err)
	}
	_, err := model.Limits{Bytes: int64(len(whole)) - 1}.Open(bytes.NewReader(whole))
	if want := "model: unusable file: the file claims to have 196 bytes; at most 195 are allowed"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := (model.Limits{Bytes: -1}).Open(bytes.NewReader(whole)); !errors.Is(err, model.ErrFormat) {
		t.Errorf("a negative limit: %v", err)
	}
}

// TestReaderErrors: a failing disk is not a broken file.
func TestReaderErrors(t *testing.T) {
	whole := encode(t, small(t))
	broken := errors.New("the disk is gone")
	for _, n := range []int{0, 10, prefix, 100, len(whole)} {
		r := io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken))
		_, err := model.Open(r)
		if !errors.Is(err, broken) || errors.Is(err, model.ErrFormat) || err.Error() != "model: reading: the disk is gone" {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// TestPrivateScale: a private file with a scale is nothing that EncodePrivate
// writes.
func TestPrivateScale(t *testing.T) {
	f := sound()
	f.magic = "MERCER\x00P"
	_, err := model.OpenPrivate(bytes.NewReader(f.bytes()))
	if want := "model: unusable file: its content: the private model has a scale; a private model must not have one"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestLiesCostNothing: a short file that claims 4 GiB, in its length or in its
// counts, makes the reader allocate next to nothing.
func TestLiesCostNothing(t *testing.T) {
	length := sound().bytes()
	binary.LittleEndian.PutUint64(length[10:], 1<<32)
	counts := sound()
	counts.width, counts.vectors, counts.scale = 1<<26, 1<<26, 0
	pairs := sound()
	pairs.count = 4096
	pairs.more = make([]byte, 2*4096)
	for name, b := range map[string][]byte{"length": length, "counts": counts.bytes(), "pairs": pairs.bytes()} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := model.Open(bytes.NewReader(b))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Fatalf("%s: accepted", name)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, used, len(b))
		}
	}
}

// A file without vectors has nothing behind the width that it states.
func TestWidthWithoutVectors(t *testing.T) {
	f := sound()
	f.width, f.vectors, f.scale = 1<<26, 0, 0
	f.factors, f.single, f.coefs, f.index, f.coef = nil, nil, 0, nil, nil
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := model.Open(bytes.NewReader(f.bytes()))
	if err == nil {
		err = model.Encode(io.Discard, m)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated (%v)", used, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(encode(f, small(f)))
	f.Add(encodePrivate(f, private(f)))
	for _, m := range every(f) {
		f.Add(encode(f, m))
	}
	f.Add(sound().bytes())
	double := sound()
	double.number, double.single, double.double = 8, nil, []float64{0.1, 3}
	f.Add(double.bytes())
	three := sound()
	three.count, three.classes = 3, []string{"a", "b", "c"}
	three.more = make([]byte, 24)
	f.Add(three.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		limits := model.Limits{Bytes: 1 << 20}
		checkOpen(t, limits, b)
		if len(b) >= prefix+sha256.Size { // get past the checksum
			checkOpen(t, limits, seal(b[:len(b)-sha256.Size]))
		}
	})
}

// checkOpen: whatever opens is, encoded again, the same bytes.
func checkOpen(t *testing.T, limits model.Limits, b []byte) {
	t.Helper()
	m, err := limits.Open(bytes.NewReader(b))
	if err == nil {
		if got := encode(t, m); !bytes.Equal(got, b) {
			t.Fatalf("opened  %x\nencoded %x", b, got)
		}
		return
	}
	p, privateErr := limits.OpenPrivate(bytes.NewReader(b))
	if errors.Is(err, model.ErrPrivate) && privateErr == nil {
		if got := encodePrivate(t, p); !bytes.Equal(got, b) {
			t.Fatalf("opened  %x\nencoded %x", b, got)
		}
		return
	}
	if !errors.Is(err, model.ErrFormat) && !errors.Is(err, model.ErrPrivate) {
		t.Fatal(err)
	}
	if privateErr == nil || !errors.Is(privateErr, model.ErrFormat) && !errors.Is(privateErr, model.ErrPrivate) {
		t.Fatalf("Open says %v, OpenPrivate %v", err, privateErr)
	}
}
