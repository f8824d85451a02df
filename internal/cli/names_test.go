package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// nameCommands spoil the names of tables.
//
//	turned FILE TO N         moves the first N features behind the others; ids stay first, labels last
//	without NAME FILE TO     leaves a column out
//	renamed FILE TO FROM AS  gives a column or a class another name
//	sparse SET K/N FILE      LIBSVM text of every N-th row of a bundled set from row K, without its last K columns
func nameCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"turned": plain(3, turned), "renamed": plain(4, renamed), "without": plain(3, without), "sparse": plain(3, sparse),
	}
}

// cellsOf reads a table that rows has written.
func cellsOf(ts *testscript.TestScript, file string) [][]string {
	all, err := csv.NewReader(strings.NewReader(ts.ReadFile(file))).ReadAll()
	ts.Check(err)
	return all
}

func saveCells(ts *testscript.TestScript, file string, all [][]string) {
	var b bytes.Buffer
	ts.Check(csv.NewWriter(&b).WriteAll(all))
	ts.Check(os.WriteFile(ts.MkAbs(file), b.Bytes(), 0o644))
}

// turned moves the first n features to the end; the first column has the ids, the
// last one the labels.
func turned(ts *testscript.TestScript, args []string) {
	all, n := cellsOf(ts, args[0]), integer(ts, args[2])
	for i, row := range all {
		last := len(row) - 1
		all[i] = slices.Concat(row[:1], row[1+n:last], row[1:1+n], row[last:])
	}
	saveCells(ts, args[1], all)
}

// without leaves a column out.
func without(ts *testscript.TestScript, args []string) {
	all := cellsOf(ts, args[1])
	at := slices.Index(all[0], args[0])
	for i, row := range all {
		all[i] = slices.Delete(row, at, at+1)
	}
	saveCells(ts, args[2], all)
}

// renamed gives a column or a class another name.
func renamed(ts *testscript.TestScript, args []string) {
	all := cellsOf(ts, args[0])
	for i, row := range all {
		for k, cell := range row {
			if cell == args[2] && (i == 0 || k == len(row)-1) {
				row[k] = args[3]
			}
		}
	}
	saveCells(ts, args[1], all)
}

// sparse writes LIBSVM text of every N-th row of a bundled set from row K, which
// has not the last columns of N - K.
func sparse(ts *testscript.TestScript, args []string) {
	set, k, n := partOf(ts, args)
	var b strings.Builder
	for i := k; i < set.X.Rows(); i += n {
		fmt.Fprint(&b, set.Labels[i])
		for j, v := range set.X.Row(i, nil)[:set.X.Cols()-k] {
			fmt.Fprintf(&b, " %d:%v", j+1, v)
		}
		fmt.Fprintln(&b)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(b.String()), 0o644))
}
