package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// npy writes an array as numpy.save does, version 1.
func npy(descr, shape, data string) string {
	return npyWith(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape), data)
}

func npyWith(header, data string) string {
	var length [2]byte
	binary.LittleEndian.PutUint16(length[:], uint16(len(header)+1))
	return "\x93NUMPY\x01\x00" + string(length[:]) + header + "\n" + data
}

// npz writes name, content, name, content, ...
func npz(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for ; len(files) > 0; files = files[2:] {
		w, err := z.Create(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReadNPZKinds reads what NumPy itself wrote.
func TestReadNPZKinds(t *testing.T) {
	file := testdata(t, "kinds.npz")
	want := [][]float64{{0, 1, 2}, {3, 4, 100}}
	half := map[string]bool{"f4": true, "i1": true, "i2": true, "u1": true, "u2": true}
	for _, kind := range strings.Fields("f4 f4be f8 f8be i1 i2 i2be i4 i4be i8 i8be u1 u2 u2be u4 u4be u8 u8be") {
		for _, order := range []string{"C", "F"} {
			s, err := Read("kinds.npz", bytes.NewReader(file), Options{NPZ: NPZOptions{X: kind + order, Labels: "y_int"}})
			if err != nil {
				t.Errorf("%s%s: %v", kind, order, err)
				continue
			}
			if diff := cmp.Diff(plain{X: want, Labels: []string{"1", "-2"}}, plainOf(s)); diff != "" {
				t.Errorf("%s%s (-want +got):\n%s", kind, order, diff)
			}
			if _, single := s.X.(*Dense32); single != half[kind[:2]] {
				t.Errorf("%s%s gives a %T", kind, order, s.X)
			}
		}
	}
	s, err := Read("kinds.npz", bytes.NewReader(file), Options{NPZ: NPZOptions{X: "boolC"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]float64{{0, 0, 0}, {1, 1, 1}}, cells(s.X)); diff != "" {
		t.Error(diff)
	}
}

func TestReadNPZLabels(t *testing.T) {
	file := testdata(t, "kinds.npz")
	for name, want := range map[string][]string{
		"y_int": {"1", "-2"}, "y_big": {"9223372036854775809", "9223372036854775808"}, "y_float": {"1", "0.5"}, "y_bool": {"1", "0"},
		"y_str": {"größe", "x"}, "y_strbe": {"größe", "x"}, "y_bytes": {"a b", "c"}, "none": nil,
	} {
		s, err := ReadNPZ(bytes.NewReader(file), int64(len(file)), NPZOptions{X: "f8C", Labels: name, IDs: "y_str"})
		if name == "y_str" {
			wantSyntaxError(t, err, `input: one array is named for two uses (X "f8C", labels "y_str", ids "y_str"); name a different array for each use`)
			s, err = ReadNPZ(bytes.NewReader(file), int64(len(file)), NPZOptions{X: "f8C", Labels: name, IDs: "y_int"})
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, s.Labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(s.IDs) != 2 {
			t.Errorf("%s: ids %q", name, s.IDs)
		}
	}
	_, err := ReadNPZ(bytes.NewReader(file), int64(len(file)), NPZOptions{Name: "k.npz", X: "f8C", Labels: "y_object"})
	wantSyntaxError(t, err, `k.npz: array "y_object": the array holds Python objects, which only Python can read; save it as numbers, or labels as dtype str`)
}

// TestReadNPYCube is a Fortran-ordered array of three axes, format version 3.
func TestReadNPYCube(t *testing.T) {
	file := testdata(t, "cube.npy")
	for name, in := range map[string]string{"cube.npy": string(file), "cube.npy.gz": gzipped(t, string(file))} {
		s, err := Read(name, strings.NewReader(in), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := make2(2, 12)
		for i := range 24 {
			want[i/12][i%12] = float64(i)
		}
		if diff := cmp.Diff(plain{X: want}, plainOf(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadNPYVariants(t *testing.T) {
	const data = "\x01\x02\x03\x04\x05\x06"
	square := [][]float64{{1, 2, 3}, {4, 5, 6}}
	dictionary := "{'descr': '|u1', 'fortran_order': False, 'shape': (2,3), }"
	v2 := "\x93NUMPY\x02\x00" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(dictionary)))) + dictionary + data
	tests := []struct {
		name, in, label string
		want            plain
	}{
		{"version 2", v2, "", plain{X: square}},
		{"other order of keys", npyWith(`{ "shape":(2L, 3L) , "fortran_order" :False,"descr":"|u1"}`, data), "none", plain{X: square}},
		{"label last", npy("|u1", "(2, 3)", data), "last", plain{X: [][]float64{{1, 2}, {4, 5}}, Labels: []string{"3", "6"}}},
		{"label 0", npy("|u1", "(2, 3)", data), "0", plain{X: [][]float64{{2, 3}, {5, 6}}, Labels: []string{"1", "4"}}},
		{"one axis", npy("|i1", "(2,)", "\xff\x01"), "", plain{X: [][]float64{{-1}, {1}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := ReadNPY(strings.NewReader(tt.in), NPYOptions{Label: tt.label})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plainOf(s)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadNPYRefuses(t *testing.T) {
	const nan32 = "\x00\x00\xc0\x7f"
	tests := []struct{ name, in, label, want string }{
		{"empty", "", "", "the data do not start like a NumPy array; save the array with numpy.save or numpy.savez"},
		{"text", "1,2,3\n4,5,6\n", "", "the data do not start like a NumPy array; save the array with numpy.save or numpy.savez"},
		{"version 4", "\x93NUMPY\x04\x00aaaa", "", "the array's format is version 4.0; save it as version 1, 2 or 3"},
		{"cut length", "\x93NUMPY\x02\x00a", "", "reading fails in the header (unexpected EOF); copy the file again"},
		{"cut header", "\x93NUMPY\x01\x00\x40\x00{", "", "reading fails in the header (unexpected EOF); copy the file again"},
		{"huge header", "\x93NUMPY\x02\x00\xff\xff\xff\xff{", "", "the header takes 4294967295 bytes, more than the 65536 allowed; save the array without field names"},
		{"no newline, no dictionary", npyWith("", ""), "", "the header does not have the keys \"descr\", \"fortran_order\" and \"shape\" of NumPy; save the array with numpy.save"},
		{"missing key", npyWith("{'descr': '<f4', 'shape': (1,)}", ""), "", "the header does not have the keys \"descr\", \"fortran_order\" and \"shape\" of NumPy; save the array with numpy.save"},
		{"unknown key", npyWith("{'descr': '<f4', 'size': (1,)}", ""), "", `the header has the unknown key "size"; save the array with numpy.save`},
		{"open quote", npyWith("{'descr", ""), "", "the header does not have the keys \"descr\", \"fortran_order\" and \"shape\" of NumPy; save the array with numpy.save"},
		{"structured", npyWith("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ""), "", "the array has named fields; save its columns as one array of numbers"},
		{"complex", npy("<c16", "(1,)", ""), "", `the array holds "<c16"; save it as float16, float32, float64, int, uint or bool`},
		{"no type", npy("", "(1,)", ""), "", `the array holds ""; save it as float16, float32, float64, int, uint or bool`},
		{"128 bits", npy("<f16", "(1,)", ""), "", `the array holds "<f16"; save it as float16, float32, float64, int, uint or bool`},
		{"objects", npy("|O", "(1,)", ""), "", "the array holds Python objects, which only Python can read; save it as numbers, or labels as dtype str"},
		{"strings", npy("<U3", "(1,)", ""), "", `the array holds strings ("<U3"); features must be numbers, so code the strings as numbers`},
		{"wide strings", npy("<U9999", "(1,)", ""), "", "the array holds strings of 9999 characters; 1 to 4096 are allowed"},
		{"scalar", npy("<f4", "()", "aaaa"), "", "the array is a single number; give an array with a row for each sample"},
		{"no rows", npy("<f4", "(0, 3)", ""), "", "there are no rows; give at least one"},
		{"no columns", npy("<f4", "(3, 0)", ""), "", "there are no columns; give at least one feature"},
		{"negative shape", npy("<f4", "(-1, 3)", ""), "", "the header's shape is not a tuple of whole numbers below 2^40; save the array with numpy.save"},
		{"huge shape", npy("<f4", "(2, 99999999999999999999)", ""), "", "the header's shape is not a tuple of whole numbers below 2^40; save the array with numpy.save"},
		{"too wide", npy("<f4", "(1, 65536, 65536)", ""), "", "the table has more than 16777216 columns; split it"},
		{"too many cells", npy("<f4", "(1000000000, 1000)", ""), "", "the table has more than 2147483648 cells; split it"},
		{"33 axes", npy("<f4", "("+strings.Repeat("1,", 33)+")", ""), "", "the array has more than 32 dimensions; reshape it to rows and columns"},
		{"claims more than it holds", npy("<f4", "(1000000, 2000)", "abcdefg"), "", "the data end after 1 of 2000000000 numbers (unexpected EOF); copy the file again"},
		{"holds more", npy("|u1", "(2,)", "abc"), "", "the file has bytes after the last number; write it again"},
		{"NaN", npy("<f4", "(2,1)", "\x00\x00\x00\x00"+nan32), "", "row 2, column 1 (from 1) is NaN; fill the cell or drop the row"},
		{"NaN in a row", npy("<f4", "(2,2)", "\x00\x00\x00\x00"+nan32+strings.Repeat("\x00", 8)), "", "row 1, column 2 (from 1) is NaN; fill the cell or drop the row"},
		{"NaN by columns", strings.Replace(npy("<f4", "(2,2)", "\x00\x00\x00\x00"+nan32+strings.Repeat("\x00", 8)), "False", "True ", 1), "", "row 2, column 1 (from 1) is NaN; fill the cell or drop the row"},
		{"label by name", npy("|u1", "(1, 2)", "ab"), "y", `label: no column is called "y", since the columns of an array have no names; give an index from 0, "last" or "none"`},
		{"label too far", npy("|u1", "(1, 2)", "ab"), "2", "label: there is no column 2; choose 0 to 1"},
		{"only a label", npy("|u1", "(2,)", "ab"), "last", "no column is left for features; give at least one, or set label to \"none\""},
		{"cut gzip", gzipped(t, npy("|u1", "(2,)", "ab"))[:30], "", "reading fails in the header (unexpected EOF); copy the file again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadNPY(strings.NewReader(tt.in), NPYOptions{Name: "a.npy", Label: tt.label})
			wantSyntaxError(t, err, "a.npy: "+tt.want)
		})
	}
}

func TestReadNPZChooses(t *testing.T) {
	x, y, z := npy("|u1", "(2,)", "\x01\x02"), npy("|u1", "(2,)", "\x03\x04"), npy("|u1", "(2,)", "\x05\x06")
	one, two := [][]float64{{1}, {2}}, [][]float64{{3}, {4}}
	tests := []struct {
		name  string
		files []string
		o     NPZOptions
		want  plain
	}{
		{"the only array", []string{"arr_0.npy", x, "README", "no array"}, NPZOptions{}, plain{X: one}},
		{"X and y", []string{"y.npy", y, "X.npy", x, "ids.npy", z}, NPZOptions{}, plain{X: one, Labels: []string{"3", "4"}, IDs: []string{"5", "6"}}},
		{"a training and a test set", []string{"x_test.npy", y, "y_test.npy", z, "x_train.npy", x, "y_train.npy", x}, NPZOptions{X: "x_test"}, plain{X: two, Labels: []string{"5", "6"}}},
		{"data and target", []string{"data.npy", x, "target.npy", z}, NPZOptions{}, plain{X: one, Labels: []string{"5", "6"}}},
		{"labels none", []string{"X.npy", x, "y.npy", z}, NPZOptions{Labels: "none"}, plain{X: one}},
		{"an array called none", []string{"X.npy", x, "none.npy", z}, NPZOptions{Labels: "none"}, plain{X: one, Labels: []string{"5", "6"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A plain reader, which is held in memory.
			s, err := Read("a.npz", io.MultiReader(strings.NewReader(npz(t, tt.files...))), Options{NPZ: tt.o})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, plainOf(s)); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadNPZRefuses(t *testing.T) {
	x, y := npy("|u1", "(2, 1)", "\x01\x02"), npy("|u1", "(2,)", "\x03\x03")
	tests := []struct {
		name string
		in   string
		o    NPZOptions
		want string
	}{
		{"no archive", "PK\x03\x04", NPZOptions{}, "the file is not a readable archive (zip: not a valid zip file); copy it again, or save the arrays with numpy.savez"},
		{"empty", npz(t), NPZOptions{}, "the archive holds no array; save at least one with numpy.savez"},
		{"no arrays", npz(t, "a.txt", "1"), NPZOptions{}, "the archive holds no array; save at least one with numpy.savez"},
		{"twice", npz(t, "a.npy", x, "a.npy", x), NPZOptions{}, `two arrays are called "a"; rename one`},
		{"unclear", npz(t, "a.npy", x, "b.npy", x), NPZOptions{}, `several arrays could hold the features; name one of "a", "b"`},
		{"unknown X", npz(t, "a.npy", x, "b.npy", x), NPZOptions{X: "c"}, `X: no array is called "c"; the arrays are "a", "b"`},
		{"unknown labels", npz(t, "X.npy", x), NPZOptions{Labels: "c"}, `labels: no array is called "c"; the arrays are "X"`},
		{"unknown ids", npz(t, "X.npy", x), NPZOptions{IDs: "c"}, `ids: no array is called "c"; the arrays are "X"`},
		{"one for all", npz(t, "X.npy", x), NPZOptions{Labels: "X"}, `one array is named for two uses (X "X", labels "X", ids ""); name a different array for each use`},
		{"too few labels", npz(t, "X.npy", x, "y.npy", npy("|u1", "(1,)", "a")), NPZOptions{}, `array "y": the array has 1 entries, but the table has 2 rows; give one entry for each row`},
		{"one-hot labels", npz(t, "X.npy", x, "y.npy", npy("|u1", "(2,2)", "abcd")), NPZOptions{}, `array "y": the array has 2 columns; give one number or text for each row, such as the argmax of one-hot codes`},
		{"empty label", npz(t, "X.npy", x, "y.npy", npy("|S1", "(2,)", "a\x00")), NPZOptions{}, `array "y": entry 2 is empty; correct it or drop the row`},
		{"bad UTF-8", npz(t, "X.npy", x, "y.npy", npy("|S1", "(2,)", "a\xff")), NPZOptions{}, `array "y": entry 2 is not readable text; correct it or drop the row`},
		{"bad UTF-32", npz(t, "X.npy", x, "y.npy", npy("<U1", "(2,)", "a\x00\x00\x00\xff\xff\xff\xff")), NPZOptions{}, `array "y": entry 2 is not readable text; correct it or drop the row`},
		{"NaN label", npz(t, "X.npy", x, "y.npy", npy("<f4", "(2,)", "\x00\x00\x00\x00\x00\x00\xc0\x7f")), NPZOptions{}, `array "y": entry 2 is not a finite number; correct it or drop the row`},
		{"equal ids", npz(t, "X.npy", x, "id.npy", y), NPZOptions{}, `rows 1 and 2 have the same id "3"; keep one of them`},
		{"broken array", npz(t, "X.npy", x[:40]), NPZOptions{}, `array "X": reading fails in the header (unexpected EOF); copy the file again`},
		{"checksum", strings.Replace(npzStored(t, x), "\x01\x02", "\x01\x03", 1), NPZOptions{}, `array "X": reading fails after the last number (zip: checksum error); copy the file again`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Name = "a.npz"
			_, err := ReadNPZ(strings.NewReader(tt.in), int64(len(tt.in)), tt.o)
			wantSyntaxError(t, err, "a.npz: "+tt.want)
		})
	}
}

// npzStored holds one array, not compressed.
func npzStored(t testing.TB, x string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "X.npy", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, x); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadKeepsArchivesBounded(t *testing.T) {
	_, _, err := randomAccess("a.npz", io.MultiReader(strings.NewReader("12345")), 4)
	wantSyntaxError(t, err, "a.npz: the file has more than the 4 bytes allowed here; split the table")
	if _, size, err := randomAccess("a.npz", io.MultiReader(strings.NewReader("1234")), 4); size != 4 || err != nil {
		t.Errorf("size %d, error %v", size, err)
	}
}

func TestReadNPYHalf(t *testing.T) {
	for _, tt := range []struct {
		bits uint16
		want float64
	}{
		{0x3c00, 1}, {0xc000, -2}, {0x7bff, 65504}, {0x0400, 0x1p-14}, {0x03ff, 0x1.ff8p-15}, {0x0001, 0x1p-24}, {0x8001, -0x1p-24}, {0x0000, 0}, {0x3555, 0.333251953125},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			descr := map[binary.AppendByteOrder]string{binary.LittleEndian: "<f2", binary.BigEndian: ">f2"}[order]
			s, err := ReadNPY(strings.NewReader(npy(descr, "(1, 1)", string(order.AppendUint16(nil, tt.bits)))), NPYOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, is := s.X.(*Dense32); !is || s.X.Row(0, nil)[0] != tt.want {
				t.Errorf("%04x: %v of a %T, want %v", tt.bits, s.X.Row(0, nil)[0], s.X, tt.want)
			}
		}
	}
	for bits, want := range map[uint16]string{0x7c00: "+Inf", 0xfc00: "-Inf", 0x7e00: "NaN"} {
		_, err := ReadNPY(strings.NewReader(npy("<f2", "(1, 1)", string(binary.LittleEndian.AppendUint16(nil, bits)))), NPYOptions{Name: "a.npy"})
		wantSyntaxError(t, err, "a.npy: row 1, column 1 (from 1) is "+want+"; fill the cell or drop the row")
	}
}
