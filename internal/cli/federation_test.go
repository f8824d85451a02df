package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// federationCommands are for scripts with daemons in them.
//
//	port VAR               a port on loopback that nobody uses now
//	occupy PORT            somebody listens on it until the script ends
//	rows SET K/N FILE      every N-th row of a bundled set from row K, with ids
//	columns SET K/N FILE [D]  the K-th of N shares of its columns but the last D, of most rows in an order of its own,
//	                       with ids; the first has the labels
//	held VAR HOME          the release that is held in a party's ledger
//	append FILE TO         puts a file's text at another's end
//	found PARTY[+]...      homes c and PARTY..., joined; the catalogue is PARTY/*.csv, and with
//	                       + jobs may choose among the columns; every protocol is allowed on
//	                       tables of any size, except as PARTY/policy.yaml says
//	daemon HOME ARG...     starts mercer coordinator (HOME c) or party; log in HOME.log
//	serve NAME ARG...      starts mercer with the arguments; log in NAME.log
//	halt HOME              SIGTERM; it must end well within 10 s
//	slay HOME              SIGKILL
//	hangup HOME            SIGHUP
//	until COMMAND ARG...   again and again until it ends well, for 10 s
//	empty DIR              there is nothing in the folder
//	[!] holds DIR TEXT...  some file under the folder holds one of the texts
func federationCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"port": plain(1, port), "occupy": plain(1, occupy), "rows": plain(3, rows), "columns": plain(3, columns), "held": plain(2, held), "append": plain(2, appendText),
		"found": plain(2, found), "daemon": plain(1, start), "serve": plain(2, serve), "halt": plain(1, halt), "slay": plain(1, slay), "hangup": plain(1, hangUp), "until": plain(1, until), "empty": plain(1, empty), "holds": holds,
	}
}

// plain makes a command that has no negation and at least that many arguments.
func plain(least int, f func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < least {
			ts.Fatalf("needs %d arguments, and has no !", least)
		}
		f(ts, args)
	}
}

func freePort(ts *testscript.TestScript) string {
	address, err := endpoint.Unused()
	ts.Check(err)
	_, port, err := net.SplitHostPort(address)
	ts.Check(err)
	return port
}

func port(ts *testscript.TestScript, args []string) { ts.Setenv(args[0], freePort(ts)) }

func occupy(ts *testscript.TestScript, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	ts.Check(err)
	ts.Defer(func() { ts.Check(l.Close()) })
}

// partOf reads the arguments SET K/N.
func partOf(ts *testscript.TestScript, args []string) (set *dataset.Set, k, n int) {
	set, err := bundled.Load(args[0])
	ts.Check(err)
	if _, err := fmt.Sscanf(args[1], "%d/%d", &k, &n); err != nil {
		ts.Fatalf("%s is no K/N: %v", args[1], err)
	}
	return set, k, n
}

func columns(ts *testscript.TestScript, args []string) {
	set, k, n := partOf(ts, args)
	shares, err := dataset.ByColumns(set.X.Cols(), n)
	ts.Check(err)
	less := 0
	if len(args) > 3 {
		less, err = strconv.Atoi(args[3])
		ts.Check(err)
	}
	part := set.SelectColumns(shares[k][:len(shares[k])-less])
	if k > 0 {
		part.Labels = nil
	}
	for i := range set.X.Rows() {
		part.IDs = append(part.IDs, fmt.Sprintf("p%d", i))
	}
	most, err := dataset.Cover(len(part.IDs), 0.95, k, 1)
	ts.Check(err)
	save(ts, args[2], part.Subset(most))
}

func held(ts *testscript.TestScript, args []string) {
	list, err := daemon.At(ts.MkAbs(args[1])).Releases().List()
	ts.Check(err)
	for _, e := range list {
		if e.State == disclosure.Held {
			ts.Setenv(args[0], e.ID)
			return
		}
	}
	ts.Fatalf("nothing is held in %s", args[1])
}

func rows(ts *testscript.TestScript, args []string) {
	set, k, n := partOf(ts, args)
	var chosen []int
	var ids []string
	for i := k; i < set.X.Rows(); i += n {
		chosen, ids = append(chosen, i), append(ids, fmt.Sprintf("p%d", i))
	}
	part := set.Subset(chosen)
	part.IDs = ids
	save(ts, args[2], part)
}

func save(ts *testscript.TestScript, file string, set *dataset.Set) {
	f, err := os.Create(ts.MkAbs(file))
	ts.Check(err)
	ts.Check(errors.Join(dataset.WriteCSV(f, set), f.Close()))
}

func appendText(ts *testscript.TestScript, args []string) {
	text := ts.ReadFile(args[0])
	f, err := os.OpenFile(ts.MkAbs(args[1]), os.O_WRONLY|os.O_APPEND, 0)
	ts.Check(err)
	_, err = f.WriteString(text)
	ts.Check(errors.Join(err, f.Close()))
}

// found makes the homes by the functions behind mercer federation, which has a
// script of its own.
func found(ts *testscript.TestScript, names []string) {
	address := "127.0.0.1:" + freePort(ts)
	members := &roster.Roster{Federation: "test"}
	create := func(home string, c *daemon.Config, role roster.Role) {
		m, err := daemon.At(ts.MkAbs(home)).Create(all.Reader(), c, role, coordinator.RandomSeed(""))
		ts.Check(err)
		members.Members = append(members.Members, m)
	}
	create("c", &daemon.Config{Name: "boss", Listen: address}, roster.Coordinator)
	homes := []string{"c"}
	for _, name := range names {
		name, choice := strings.CutSuffix(name, "+")
		create(name, partyConfig(ts, name, address, choice), roster.Party)
		homes = append(homes, name)
	}
	for _, home := range homes {
		ts.Check(daemon.At(ts.MkAbs(home)).Join(all.Reader(), members))
	}
}

func partyConfig(ts *testscript.TestScript, name, address string, choice bool) *daemon.Config {
	c := &daemon.Config{Name: name, Coordinator: "nats://" + address, Data: make(map[string]daemon.Source)}
	policy := party.Policy{Protocols: all.Reader().Known().Protocols, Limits: party.NoLimits()}
	written, err := os.ReadFile(ts.MkAbs(filepath.Join(name, "policy.yaml")))
	if !errors.Is(err, fs.ErrNotExist) {
		ts.Check(errors.Join(err, yaml.Unmarshal(written, &policy)))
	}
	tables, err := filepath.Glob(ts.MkAbs(filepath.Join(name, "*.csv")))
	ts.Check(err)
	own, err := os.ReadFile(ts.MkAbs(filepath.Join(name, "data.yaml")))
	if !errors.Is(err, fs.ErrNotExist) {
		ts.Check(errors.Join(err, yaml.Unmarshal(own, &c.Data)))
		for table, s := range c.Data {
			s.Policy = &policy
			c.Data[table] = s
		}
		return c
	}
	for _, path := range tables {
		base := filepath.Base(path)
		own := entry(base, ts.ReadFile(path), &policy)
		if !choice {
			own.Columns = daemon.OwnColumns{}
		}
		c.Data[strings.TrimSuffix(base, ".csv")] = own
	}
	return c
}

// entry offers all that a table has. Where its first line names no label, its owner
// holds other columns than the labels.
func entry(path, table string, policy *party.Policy) daemon.Source {
	s := daemon.Source{Path: path, ID: job.OwnID{IDRule: prepare.IDRule{Columns: []string{"id"}}}, Policy: policy}
	head, _, _ := strings.Cut(table, "\n")
	for _, column := range strings.Split(head, ",") {
		switch column {
		case "label":
			s.Label = daemon.Labels{Columns: []string{column}}
		case "id":
		default:
			s.Columns.Offered = append(s.Columns.Offered, column)
		}
	}
	return s
}

// process is a daemon in the background.
type process struct {
	cmd   *exec.Cmd
	ended chan error // holds one
}

type processKey string

func start(ts *testscript.TestScript, args []string) {
	home, verb := args[0], "party"
	if home == "c" {
		verb = "coordinator"
	}
	launch(ts, home, append([]string{verb, "--home", home}, args[1:]...))
}

func serve(ts *testscript.TestScript, args []string) { launch(ts, args[0], args[1:]) }

// launch starts mercer under a name.
func launch(ts *testscript.TestScript, name string, args []string) {
	log, err := os.Create(ts.MkAbs(name + ".log"))
	ts.Check(err)
	cmd := exec.Command("mercer", args...)
	cmd.Dir, cmd.Stderr, cmd.Env = ts.MkAbs("."), log, os.Environ()
	for _, name := range []string{"HOSPITAL_DSN", "HTTPS_PROXY", "NO_PROXY", "CREDENTIALS_DIRECTORY"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	p := &process{cmd, make(chan error, 1)}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		p.ended <- errors.Join(cmd.Wait(), log.Close())
	}()
	ts.Defer(func() {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			ts.Logf("%s: %v", name, err)
		}
		<-gone
	})
	processes(ts)[name] = p
}

func processes(ts *testscript.TestScript) map[string]*process {
	return ts.Value(processKey("processes")).(map[string]*process)
}

const haltTime = 10 * time.Second

func halt(ts *testscript.TestScript, args []string) {
	p := processes(ts)[args[0]]
	if p == nil {
		ts.Fatalf("no daemon runs in %s", args[0])
	}
	ts.Check(p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-p.ended:
		if err != nil {
			ts.Fatalf("%s: %v\n%s", args[0], err, ts.ReadFile(args[0]+".log"))
		}
	case <-time.After(haltTime):
		ts.Fatalf("%s does not stop within %v of SIGTERM", args[0], haltTime)
	}
}

func slay(ts *testscript.TestScript, args []string) {
	p := processes(ts)[args[0]]
	if p == nil {
		ts.Fatalf("no daemon runs in %s", args[0])
	}
	ts.Check(p.cmd.Process.Kill())
	if <-p.ended == nil {
		ts.Fatalf("%s had ended by itself", args[0])
	}
}

func hangUp(ts *testscript.TestScript, args []string) {
	p := processes(ts)[args[0]]
	if p == nil {
		ts.Fatalf("no daemon runs in %s", args[0])
	}
	ts.Check(p.cmd.Process.Signal(syscall.SIGHUP))
}

func until(ts *testscript.TestScript, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for ts.Exec(args[0], args[1:]...) != nil {
		if ctx.Err() != nil {
			ts.Fatalf("not within 10 s")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func empty(ts *testscript.TestScript, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(entries) > 0 {
		ts.Fatalf("%s holds %v", args[0], entries)
	}
}

func holds(ts *testscript.TestScript, neg bool, args []string) {
	dir, found := ts.MkAbs(args[0]), ""
	ts.Check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, text := range args[1:] {
			if bytes.Contains(b, []byte(text)) {
				found = path + " holds " + text
			}
		}
		return err
	}))
	switch {
	case neg && found != "":
		ts.Fatalf("%s", found)
	case !neg && found == "":
		ts.Fatalf("no file under %s holds any of %v", args[0], args[1:])
	}
}

// figureCommands compare numbers in the one JSON document on stdout.
//
//	save VAR PATH          sets a variable to the value at the path
//	same PATH PATH         equal values at both
//	within LOW PATH HIGH   a number, the bounds included
//	gain LEAST             metrics.accuracy is above the mean of alone by this
//	gridagrees             every cell of the grid has as many rows right as on pooled rows
//	distinct LEAST PATH    a list with at least that many different values
//	keep VAR PATH[-PATH]   adds a number, or a difference, to a variable's list
//	median LOW VAR HIGH    the median of what was kept, the bounds included
func figureCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"save": plain(2, func(ts *testscript.TestScript, args []string) { ts.Setenv(args[0], fmt.Sprint(at(ts, args[1]))) }),
		"same": plain(2, func(ts *testscript.TestScript, args []string) {
			if a, b := fmt.Sprint(at(ts, args[0])), fmt.Sprint(at(ts, args[1])); a != b {
				ts.Fatalf("%s is %s and %s is %s", args[0], a, args[1], b)
			}
		}),
		"within":     plain(3, within),
		"gain":       plain(1, gain),
		"gridagrees": plain(0, gridAgrees),
		"distinct":   plain(2, distinct),
		"keep":       plain(2, keep),
		"median":     plain(3, median),
	}
}

func at(ts *testscript.TestScript, path string) any {
	v, err := lookup(onlyDocument(ts), path)
	ts.Check(err)
	return v
}

func number(ts *testscript.TestScript, v any) float64 {
	x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	ts.Check(err)
	return x
}

func within(ts *testscript.TestScript, args []string) {
	x := number(ts, at(ts, args[1]))
	if low, high := number(ts, args[0]), number(ts, args[2]); !(low <= x && x <= high) {
		ts.Fatalf("%s is %g, not from %g to %g", args[1], x, low, high)
	}
}

func keep(ts *testscript.TestScript, args []string) {
	first, second, some := strings.Cut(args[1], "-")
	x := number(ts, at(ts, first))
	if some {
		x -= number(ts, at(ts, second))
	}
	ts.Setenv(args[0], ts.Getenv(args[0])+" "+strconv.FormatFloat(x, 'g', -1, 64))
}

func median(ts *testscript.TestScript, args []string) {
	var list []float64
	for _, field := range strings.Fields(ts.Getenv(args[1])) {
		list = append(list, number(ts, field))
	}
	slices.Sort(list)
	ts.Logf("%s: %v", args[1], list)
	if len(list)%2 == 0 {
		ts.Fatalf("%s has %d numbers; keep an odd number of them", args[1], len(list))
	}
	if x := list[len(list)/2]; !(number(ts, args[0]) <= x && x <= number(ts, args[2])) {
		ts.Fatalf("the median of %s is %g, not from %s to %s", args[1], x, args[0], args[2])
	}
}

func gain(ts *testscript.TestScript, args []string) {
	together, alone := number(ts, at(ts, "result.metrics.accuracy")), 0.0
	list, ok := at(ts, "result.alone").([]any)
	if !ok || len(list) == 0 {
		ts.Fatalf("result.alone is no list")
	}
	for i := range list {
		alone += number(ts, at(ts, fmt.Sprintf("result.alone.%d.accuracy", i))) / float64(len(list))
	}
	if least := number(ts, args[0]); !(together-alone >= least) {
		ts.Fatalf("together %.4f, alone %.4f on average: less than %g apart", together, alone, least)
	}
}

func gridAgrees(ts *testscript.TestScript, _ []string) {
	list, ok := at(ts, "result.grid").([]any)
	if !ok || len(list) == 0 {
		ts.Fatalf("result.grid is no list with cells")
	}
	chosen := 0
	for i := range list {
		cell := fmt.Sprintf("result.grid.%d.", i)
		own, pooled := number(ts, at(ts, cell+"correct")), number(ts, at(ts, cell+"pooled_correct"))
		if own != pooled {
			ts.Fatalf("cell %d has %g rows right, %g on pooled rows", i, own, pooled)
		}
		if fmt.Sprint(at(ts, cell+"best")) == "true" {
			chosen++
		}
	}
	if chosen != 1 {
		ts.Fatalf("%d cells are the best", chosen)
	}
}

func distinct(ts *testscript.TestScript, args []string) {
	list, _ := at(ts, args[1]).([]any)
	seen := make(map[string]bool)
	for _, v := range list {
		seen[fmt.Sprint(v)] = true
	}
	if least := int(number(ts, args[0])); len(seen) < least {
		ts.Fatalf("%s has %d different values, want %d: %v", args[1], len(seen), least, list)
	}
}
