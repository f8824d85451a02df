package catalogue

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
)

const (
	csvText    = "age,income,bought\n30,1.5,yes\n41,2.5,no\n"
	libsvmText = "+1 1:0.5 3:1\n-1 2:2\n"
)

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		panic(err) // into memory
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// library returns a data folder with tables, and with files that are not tables.
func library(t *testing.T) (Library, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shop/customers.csv":     csvText,
		"adult/adult":            libsvmText,
		"adult/adult.t":          libsvmText,
		"text/words.trn.gz":      zipped(libsvmText),
		"deep/er/table.csv":      csvText,
		"deep/er/still/gone.csv": csvText, // below the depth that is looked at
		".hidden/table.csv":      csvText,
		"README":                 "Three files: see below\n",
		"ratings/u.data":         "196\t242\t3\t881250949\n",
		"images/a.jpg":           "1 1:1\n",
		"broken/a.gz":            "\x1f\x8bnot gzip",
		"bad/nan.csv":            "a,y\nNaN,1\n",
		"empty/nothing.md":       "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return New(dir), dir
}

func TestList(t *testing.T) {
	l, _ := library(t)
	entries, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"bundled:digits", "bundled:wdbc",
		"adult/adult", "adult/adult.t", "bad/nan.csv", "deep/er/table.csv", "shop/customers.csv", "text/words.trn.gz",
	}
	if d := cmp.Diff(want, names(entries)); d != "" {
		t.Error(d)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name, Bundled) == (e.Rows == 0) {
			t.Errorf("%s has %d rows; known for bundled sets only", e.Name, e.Rows)
		}
	}
}

func TestListWithoutFolder(t *testing.T) {
	entries, err := Library{}.List()
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := New(filepath.Join(t.TempDir(), "gone")).List(); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestBundledIsWhatTheCatalogueSays(t *testing.T) {
	entries, err := Library{}.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		set, err := Library{}.Load(e.Name, Columns{Label: LabelColumn})
		if err != nil {
			t.Fatal(err)
		}
		classes, _ := dataset.Classes(set.Labels)
		if set.X.Rows() != e.Rows || set.X.Cols() != e.Columns || len(classes) != e.Classes {
			t.Errorf("%s is %d x %d with %d classes, the catalogue says %+v", e.Name, set.X.Rows(), set.X.Cols(), len(classes), e)
		}
	}
}

func TestLoad(t *testing.T) {
	l, dir := library(t)
	for _, c := range []struct {
		ref        string
		columns    Columns
		rows, cols int
	}{
		{"bundled:digits", Columns{}, 1797, 64},
		{"shop/customers.csv", Columns{Label: "bought"}, 2, 2},
		{"shop", Columns{Label: "bought", ID: "age"}, 2, 1}, // the only table of the folder
		{"adult/adult.t", Columns{Label: LabelColumn}, 2, 3},
		{"text", Columns{}, 2, 3},
		{filepath.Join(dir, "shop", "customers.csv"), Columns{}, 2, 2},
	} {
		set, err := l.Load(c.ref, c.columns)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		if set.X.Rows() != c.rows || set.X.Cols() != c.cols || len(set.Labels) != c.rows {
			t.Errorf("%s: %d x %d with %d labels, want %d x %d", c.ref, set.X.Rows(), set.X.Cols(), len(set.Labels), c.rows, c.cols)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	l, dir := library(t)
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for _, c := range []struct {
		name, ref string
		columns   Columns
		want      string
	}{
		{"unknown bundled set", "bundled:digit", Columns{}, `bundled:digit does not exist: no data set is called "digit"; did you mean "digits"? (there are digits, wdbc)`},
		{"another label", "bundled:wdbc", Columns{Label: "class"}, `bundled:wdbc has no column "class"; its labels are called "label"`},
		{"ids of a bundled set", "bundled:wdbc", Columns{ID: "id"}, `bundled:wdbc has no column "id"; it has no row ids, so leave id out`},
		{"label of LIBSVM text", "adult/adult", Columns{Label: "y"}, `` + in("adult/adult") + ` has no column "y"; its labels are called "label"`},
		{"several tables", "adult", Columns{}, `` + in("adult") + ` is a folder with several tables; name one of adult, adult.t`},
		{"no table", "empty", Columns{}, `` + in("empty") + ` is a folder without a table; give a file (CSV, LIBSVM text, NumPy, parquet, IDX), or a folder with a sub-folder of JPEG or PNG files for each class`},
		{"near name", "shop/custommers.csv", Columns{}, `shop/custommers.csv is neither a file nor a name in the data folder ` + dir + ` (did you mean "shop/customers.csv"?); mercer data list shows the names`},
		{"near folder", "adlut", Columns{}, `adlut is neither a file nor a name in the data folder ` + dir + ` (did you mean "adult"?); mercer data list shows the names`},
		{"far name", "weather", Columns{}, `weather is neither a file nor a name in the data folder ` + dir + `; mercer data list shows the names`},
		{"out of the folder", "../weather", Columns{}, `../weather is neither a file nor a name in the data folder; give a path, or a name that mercer data list shows`},
		{"device", os.DevNull, Columns{}, `` + os.DevNull + ` is neither a file nor a folder; give the path of a table`},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := l.Load(c.ref, c.columns)
			if err == nil {
				t.Fatalf("loaded %d rows", set.X.Rows())
			}
			if err.Error() != c.want {
				t.Errorf("\n got %s\nwant %s", err, c.want)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

func TestLoadPassesTheReadersErrorOn(t *testing.T) {
	l, _ := library(t)
	_, err := l.Load("bad/nan.csv", Columns{Label: "y"})
	var e *dataset.SyntaxError
	if !errors.As(err, &e) || e.Line != 2 {
		t.Errorf("%v (%T)", err, err)
	}
}

func TestWithoutFolder(t *testing.T) {
	_, err := Library{}.Load("digits", Columns{})
	if want := "digits is not a file; give a path, bundled:NAME, or set MERCER_DATA to your data folder"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
	_, err = New(filepath.Join(t.TempDir(), "gone")).Load("digits", Columns{})
	if err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("%v", err)
	}
}

// A name that is no path, or nearly that of a file, is answered with what to write.
func TestNamesThatAreNoPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("ward/old", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"north.csv", "none.yaml", "ward/Söder.csv", "ward/a1.csv"} {
		if err := os.WriteFile(name, []byte("a,y\n1,x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const plain = " is not a file; give a path, bundled:NAME, or set MERCER_DATA to your data folder"
	for ref, want := range map[string]string{
		"":                          `"" is no path; give a path, bundled:NAME, or a name that mercer data list shows`,
		"https://example.org/a.csv": "https://example.org/a.csv is an address, and no address is read; download the table, and give the path of the file",
		`ward\a1.csv`:               `ward\a1.csv is not a file; write / between folders, as in ward/a1.csv`,
		"North.CSV":                 "North.CSV is not a file; did you mean north.csv?",
		"north.txt":                 "north.txt is not a file; did you mean north.csv?",
		"nroth.csv":                 "nroth.csv is not a file; did you mean north.csv?",
		"ward/söder.csv":            "ward/söder.csv is not a file; did you mean ward/Söder.csv?",
		"south.csv":                 "south.csv" + plain, // another site
		"gone.csv":                  "gone.csv" + plain,  // none.yaml is no table
		"none.csv":                  "none.csv" + plain,
		"ward/a2.csv":               "ward/a2.csv" + plain,
		"gone/north.csv":            "gone/north.csv" + plain,
		"ward/olds":                 "ward/olds" + plain, // old is a folder
		"shards/*.csv":              "shards/*.csv matches no file, since there is no folder shards/; correct the folder",
	} {
		if _, err := (Library{}).Load(ref, Columns{}); err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v\nwant %s", ref, err, want)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	none := func(string) string { return "" }
	if got := Folder(none); got != "" {
		t.Errorf("a folder out of nowhere: %q", got)
	}
	if got := Folder(func(k string) string { return map[string]string{Variable: "x"}[k] }); got != "x" {
		t.Errorf("the variable is not heard: %q", got)
	}
	checkout := filepath.Join("shared", "data")
	if err := os.MkdirAll(checkout, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("main", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir("main")
	if got := Folder(none); got != filepath.FromSlash(siblingFolder) {
		t.Errorf("the folder beside a checkout is not found: %q", got)
	}
}

// TestRealFolder finds well-known tables in the data folder, where there is one.
func TestRealFolder(t *testing.T) {
	folder := os.Getenv(Variable)
	if folder == "" {
		folder = filepath.Join("..", "..", filepath.FromSlash(siblingFolder))
	}
	if _, err := os.Stat(folder); err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skipf("no data folder; set %s", Variable)
	}
	entries, err := New(folder).List()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"digits/digits.csv.gz", "breast-cancer/wdbc.csv", "a9a/a9a", "reuters/reuters.trn.gz"} {
		found := false
		for _, e := range entries {
			found = found || e.Name == name
		}
		if !found {
			t.Errorf("%s is not listed", name)
		}
	}
}
