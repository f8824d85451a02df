package structure_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// lists are the packages that import all methods, so that no other package has to.
var lists = []string{methods + "all", "internal/local/all"}

// variants are packages whose Bind other methods call: those methods are the same protocol
// with a variation.
var variants = []string{methods + "okra"}

// mayImport reports whether a folder may import a method without an entry. The two lists
// may. Packages below a method's package, such as its part for a process that owns all data
// (x/local), may import that package. Every package may import packages of no single
// method, such as rows and columns, and those of which it may be a variant.
func mayImport(from, to string) bool {
	return slices.Contains(lists, from) || strings.HasPrefix(from, to+"/") ||
		packageOf(from) != "" && !isMethod(packageOf(to)) || isMethod(packageOf(from)) && slices.Contains(variants, to)
}

func isMethod(name string) bool {
	return slices.ContainsFunc(all.Reader().Protocols, func(k job.Protocol) bool { return folderOf(k.Name()) == name })
}

// Only the lists import methods, except for the entries of imports.txt.
func TestOnlyListsImportMethods(t *testing.T) {
	found, seen := make(map[string][]string), make(map[string]bool)
	for _, f := range sources(t) {
		for _, to := range f.imports() {
			if packageOf(to) == "" {
				continue
			}
			if seen[packageOf(to)] = true; !mayImport(f.folder(), to) {
				entry := f.folder() + " -> " + strings.TrimPrefix(to, methods)
				found[entry] = append(found[entry], f.path)
			}
		}
	}
	only(t, "imports.txt", found)
	for _, m := range all.Reader().Protocols {
		if !seen[folderOf(m.Name())] {
			t.Errorf("method %s has no package of its name", m.Name())
		}
	}
}

func TestMayImport(t *testing.T) {
	for pair, want := range map[string]bool{
		"internal/method/all internal/method/gram":             true,
		"internal/local/all internal/method/gram/local":        true,
		"internal/method/gram/local internal/method/gram":      true,
		"internal/method/gram internal/method/gram/local":      false, // a daemon would link it
		"internal/method/gram/local internal/method/fdskl":     false,
		"internal/method/grams internal/method/gram":           false,
		"internal/method/gram internal/method/fdskl":           false,
		"internal/method/gram internal/method/columns":         true,
		"internal/method/columns internal/method/rows":         true,
		"internal/method/columns internal/method/gram":         false,
		"internal/local/partition internal/method/columns":     false,
		"internal/method/methodtest internal/method/columns":   false,
		"internal/method internal/method/gram":                 false,
		"internal/method/methodtest internal/method/gram":      false,
		"internal/local/partition internal/method/gram":        false,
		"internal/method/local internal/method/gram/local":     false,
		"internal/method/all/other internal/method/gram":       false,
		"internal/method/gram/local/deep internal/method/gram": true,
		"internal/method/flake internal/method/okra":           true,
		"internal/method/flake internal/method/okra/local":     false,
		"internal/method/columns internal/method/okra":         false,
	} {
		if from, to, _ := strings.Cut(pair, " "); mayImport(from, to) != want {
			t.Errorf("%s: %v", pair, !want)
		}
	}
}

// daemons lists the packages of processes that run on their owner's machine.
var daemons = []string{"internal/node/coordinator", "internal/node/party", "internal/daemon", "internal/node/devices", "internal/anonymous/gateway", "internal/anonymous/relay", "internal/anonymous/issuer"}

// together lists packages that see rows of several parties in one process, attacks that
// read data from the view of a role, and tools for tests, each with all packages below it.
var together = []string{
	"internal/local/partition", "internal/local/simulate", "internal/local/demo", "internal/method/local/dropout", "internal/method/local", // one process runs all members
	"internal/bench", "internal/anonymous/simulator", "internal/node/devices/simulator",
	"internal/attack/lattice", "internal/attack/traffic",
	"internal/check/golden", "internal/check/structure", "internal/check/onerow",
	"protocol/sim", "protocol/memory", "protocol/protocoltest",
}

// besides matches further packages of this kind: the methods' parts for a process that owns
// all data, and shared code of a package's tests.
var besides = regexp.MustCompile(`^(internal/method/[a-z0-9]+/local|.*/[a-z]+test)(/|$)`)

// seesSeveral reports whether a package is in one of these lists.
func seesSeveral(pkg string) bool {
	return besides.MatchString(pkg) || slices.ContainsFunc(together, func(at string) bool {
		return pkg == at || strings.HasPrefix(pkg, at+"/")
	})
}

// No daemon links code that sees the rows of two parties, or an attack, except for the
// entries of links.txt.
func TestDaemonsSeeOneParty(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	found := make(map[string][]string)
	for _, d := range daemons {
		for _, pkg := range linked(t, d) {
			if seesSeveral(pkg) {
				entry := d + " -> " + pkg
				found[entry] = append(found[entry], "go list -deps ./"+d)
			}
		}
	}
	only(t, "links.txt", found)
}

// linked returns the program's packages that a package links.
func linked(t *testing.T, pkg string) (list []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+pkg)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	for line := range strings.Lines(string(out)) {
		if own, is := strings.CutPrefix(strings.TrimSpace(line), module); is {
			list = append(list, own)
		}
	}
	if !slices.Contains(list, pkg) {
		t.Fatalf("%v says %q", cmd, out)
	}
	return list
}

// Every package of the list exists, and a similar name is not matched.
func TestTogetherAreThere(t *testing.T) {
	folders := make(map[string]bool)
	for _, f := range sources(t) {
		folders[f.folder()] = true
	}
	for _, pkg := range append(slices.Clone(together), "internal/method/fdskl/local", "internal/method/jobtest", "internal/method/methodtest") {
		if !folders[pkg] || !seesSeveral(pkg) {
			t.Errorf("%s: there is %v, it is meant %v", pkg, folders[pkg], seesSeveral(pkg))
		}
	}
	for _, pkg := range []string{"internal/node/party", "internal/method/gram", "internal/method/all", "protocol/simple", "internal/attacks", "internal/locals"} {
		if seesSeveral(pkg) {
			t.Errorf("%s is meant", pkg)
		}
	}
}
