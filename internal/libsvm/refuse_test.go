package libsvm

import (
	"strings"
	"testing"
)

func TestParseTrainingRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":                 "svm-train needs TRAINING_FILE; name the file with the training rows after the options",
		"-c":               "option -c has no value; write the value after it",
		"-c x rows":        `-c is "x"; write a finite number`,
		"-c inf rows":      `-c is "inf"; write a finite number`,
		"-s 5 rows":        `-s is "5"; write 0 (c_svc), 1 (nu_svc), 2 (one_class), 3 (epsilon_svr), 4 (nu_svr)`,
		"-t 5 rows":        `-t is "5"; write 0 (linear), 1 (polynomial), 2 (rbf), 3 (sigmoid), 4 (precomputed)`,
		"-d 0 -t 1 rows":   "-d is 0; write a degree from 1",
		"-d 1.5 rows":      `-d is "1.5"; write a whole number`,
		"-g -1 rows":       "-g is -1; write a number above 0, or 0 for 1 / number of features",
		"-e 0 rows":        "-e is 0; write a tolerance above 0",
		"-v 1 rows":        "-v is 1; write a number of folds from 2",
		"-m 0 rows":        "-m is 0; write a number of megabytes above 0 and below 1073741824",
		"-b 2 rows":        `-b is "2"; write 0 or 1`,
		"-s 2 -b 1 rows":   "-b 1 is not supported for -s 2; leave it out, and use the decisions of mercer predict instead of probabilities",
		"-x 1 rows":        "unknown option -x; mercer svm-train --help lists the options",
		"-wx 1 rows":       "unknown option -wx; mercer svm-train --help lists the options",
		"rows model more":  `svm-train does not take "more"; options stand before TRAINING_FILE and MODEL_FILE`,
		"rows model -c  1": `svm-train does not take "-c"; options stand before TRAINING_FILE and MODEL_FILE`,
	} {
		if _, err := ParseTraining(strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", args, err, want)
		}
	}
}

func TestParseTrainingReadsOptions(t *testing.T) {
	o, err := ParseTraining(strings.Fields("-s 1 -t 1 -d 2 -g 0.5 -r -1 -c 3 -n 0.25 -p 0.5 -m 1 -e 0.01 -h 0 -b 1 -w-1 4 -w2 5 -v 3 -q dir/rows"))
	if err != nil {
		t.Fatal(err)
	}
	if o.Machine != NuSVC || o.Kernel != (Kernel{Polynomial, 2, 0.5, -1}) || o.C != 3 || o.Nu != 0.25 || o.Epsilon != 0.5 ||
		o.CacheBytes != 1<<20 || o.Tol != 0.01 || !o.Probability || o.Weights[-1] != 4 || o.Weights[2] != 5 || o.Folds != 3 || !o.Quiet ||
		o.Data != "dir/rows" || o.Model != "rows.model" {
		t.Errorf("%+v", o)
	}
}

func TestTrainRefuses(t *testing.T) {
	for _, test := range []struct{ args, rows, want string }{
		{"rows", "1 1:1\n2 1:x\n", `rows:2: value "x" of index 1 is not a number; correct it or drop the index`},
		{"rows", "1 2:1 1:1\n", "rows:1: index 1 follows index 2; sort the indices of each row"},
		{"rows", "1.5 1:1\n2 1:2\n", "rows: row 1: the label 1.5 is no class; write a 32-bit whole number, or predict numbers with -s 3"},
		{"-t 4 rows", "1 1:1\n2 1:2\n", "rows: row 1: the row does not begin with 0:NUMBER, which a precomputed kernel needs; add the number of the row, from 1"},
		{"-t 4 rows", "1 0:1 1:1\n2 0:2 1:2\n", "rows: row 2: the number of the row, 0:2, has no column; write a whole number from 1 to 1"},
		{"-s 1 -n 0.9 rows", "1 1:1\n1 1:2\n1 1:4\n2 1:3\n", `svm: classes "1" and "2": nu is 0.9; with 1 of 4 rows in the smaller class, nu can be at most 0.5`},
		{"-c -1 rows", "1 1:1\n2 1:2\n", "svm: C is -1; it must be above 0"},
	} {
		o, err := ParseTraining(strings.Fields(test.args))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ReadProblem(strings.NewReader(test.rows), "rows")
		if err == nil {
			_, err = Train(p, o)
		}
		if err == nil || err.Error() != test.want {
			t.Errorf("%s\ngot  %v\nwant %s", test.args, err, test.want)
		}
	}
}

// TestOneClassOfRows: rows with one label give a model that answers this label, as in LIBSVM.
func TestOneClassOfRows(t *testing.T) {
	o, err := ParseTraining([]string{"rows"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := ReadProblem(strings.NewReader("7 1:1\n7 1:2\n"), "rows")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Train(p, o)
	if err != nil {
		t.Fatal(err)
	}
	var file, out strings.Builder
	if err := r.Model.Write(&file); err != nil {
		t.Fatal(err)
	}
	m, line, err := ReadModel(strings.NewReader(file.String()), Any())
	if err != nil {
		t.Fatalf("line %d: %v\n%s", line, err, file.String())
	}
	if _, err := m.Predict(&out, p, false); err != nil {
		t.Fatal(err)
	}
	if out.String() != "7\n7\n" || len(r.Warnings) != 1 {
		t.Errorf("predicted %q, warnings %q", out.String(), r.Warnings)
	}
}
