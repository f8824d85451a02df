package cli

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mercer-fl/mercer/internal/catalogue/query/querytest"
)

// databaseCommands are for scripts with a database in them.
//
//	postgres VAR               starts a server of PostgreSQL, whose DSN is the variable
//	sql FILE                   runs statements as the owner of the server's database
//	sqlite FILE STATEMENTS     makes a file of SQLite by a file of statements
//	peak VAR HOME              the most memory that a daemon has had, in kB
//	grown MOST HOME KB...      a daemon's peak less the others is at most that many kB
func databaseCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"postgres": plain(1, postgres), "sqlite": plain(2, sqlite), "sql": plain(1, statements), "peak": plain(2, peak), "grown": plain(3, grown),
	}
}

type serverKey struct{}

func postgres(ts *testscript.TestScript, args []string) {
	s, err := querytest.Start()
	ts.Check(err)
	ts.Defer(func() { ts.Check(s.Stop()) })
	servers(ts)["server"] = s
	ts.Setenv(args[0], s.DSN("reader"))
}

func servers(ts *testscript.TestScript) map[string]*querytest.Server {
	return ts.Value(serverKey{}).(map[string]*querytest.Server)
}

func statements(ts *testscript.TestScript, args []string) {
	ts.Check(servers(ts)["server"].Exec(ts.ReadFile(args[0])))
}

func sqlite(ts *testscript.TestScript, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(ts.ReadFile(args[1]))
	ts.Check(errors.Join(err, db.Close()))
}

func peakOf(ts *testscript.TestScript, home string) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", processes(ts)[home].cmd.Process.Pid))
	ts.Check(err)
	_, rest, found := strings.Cut(string(status), "VmHWM:")
	kB, _, isKB := strings.Cut(rest, " kB")
	if !found || !isKB {
		ts.Fatalf("this system does not say how much memory a process has had")
	}
	n, err := strconv.Atoi(strings.TrimSpace(kB))
	ts.Check(err)
	return n
}

func peak(ts *testscript.TestScript, args []string) {
	ts.Setenv(args[0], strconv.Itoa(peakOf(ts, args[1])))
}

func grown(ts *testscript.TestScript, args []string) {
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := peakOf(ts, args[1])
	own := all
	for _, other := range args[2:] {
		n, err := strconv.Atoi(other)
		ts.Check(err)
		own -= n
	}
	ts.Logf("%s had %d kB at most, which is %d kB more than %v", args[1], all, own, args[2:])
	if own > most {
		ts.Fatalf("more than %d kB", most)
	}
}
