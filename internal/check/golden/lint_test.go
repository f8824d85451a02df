package golden

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const root, module = "../../..", "github.com/mercer-fl/mercer"

// rules are the linter's rules on imports, by their names.
type rules map[string]rule

type rule struct {
	Files []string
	Allow []string
	Deny  []struct{ Pkg string }
}

// linter reads the linter's rules, and the paths that other linters leave out.
func linter(t *testing.T) (r rules, exclusions []string) {
	t.Helper()
	var file struct {
		Linters struct {
			Settings struct {
				Depguard struct{ Rules rules }
			}
			Exclusions struct {
				Rules []struct{ Path string }
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	if err == nil {
		err = yaml.Unmarshal(b, &file)
	}
	r = file.Linters.Settings.Depguard.Rules
	if err != nil || len(r) < 5 {
		t.Fatalf("%d rules, error %v", len(r), err)
	}
	for _, e := range file.Linters.Exclusions.Rules {
		exclusions = append(exclusions, e.Path)
	}
	return r, exclusions
}

// sources returns the paths of all Go files.
func sources(t *testing.T) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 500 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	return files
}

// pattern returns a linter's glob as a regular expression for a whole path: ** matches
// folders.
func pattern(glob string) *regexp.Regexp {
	s := regexp.QuoteMeta(glob)
	s = strings.NewReplacer(`\*\*`, ".*", `\*`, "[^/]*").Replace(s)
	return regexp.MustCompile("^" + s + "$")
}

// matching returns the files that a glob of the linter matches.
func matching(glob string, files []string) (found []string) {
	p := pattern(glob)
	for _, f := range files {
		if p.MatchString("/mercer/" + f) {
			found = append(found, f)
		}
	}
	return found
}

// Every glob of the linter's rules matches a file: a glob that a move has left behind would
// forbid nothing, without anyone noticing.
func TestEveryGlobMatches(t *testing.T) {
	all := sources(t)
	set, exclusions := linter(t)
	for name, rule := range set {
		for _, glob := range rule.Files {
			if strings.HasPrefix(strings.TrimPrefix(glob, "!"), "$") {
				continue // a word of the linter's
			}
			if len(matching(strings.TrimPrefix(glob, "!"), all)) == 0 {
				t.Errorf("rule %s: %s matches no file", name, glob)
			}
		}
		if len(rule.matches(all)) == 0 {
			t.Errorf("rule %s is about no file", name)
		}
	}
	for _, path := range exclusions {
		p := regexp.MustCompile(path)
		if !p.MatchString(strings.Join(all, "\n")) {
			t.Errorf("exclusion %s matches no file", path)
		}
	}
}

// matches returns the files to which a rule applies.
func (r rule) matches(files []string) (found []string) {
	var but []string
	for _, glob := range r.Files {
		switch word, negated := strings.CutPrefix(glob, "!"); {
		case word == "$test" && negated:
			but = append(but, matching("**_test.go", files)...)
		case word == "$all":
			found = append(found, files...)
		case negated:
			but = append(but, matching(word, files)...)
		default:
			found = append(found, matching(glob, files)...)
		}
	}
	return slices.DeleteFunc(found, func(f string) bool { return slices.Contains(but, f) })
}

// refuses reports whether a rule forbids the import of a package.
func (r rule) refuses(pkg string) bool {
	for _, d := range r.Deny {
		if strings.HasPrefix(pkg, d.Pkg) {
			return true
		}
	}
	return r.Allow != nil && !slices.ContainsFunc(r.Allow, func(a string) bool {
		exact, only := strings.CutSuffix(a, "$")
		return pkg == exact || !only && strings.HasPrefix(pkg, a)
	})
}

// Every package of this program that a rule names exists: a rule that forbids a moved
// package forbids nothing.
func TestEveryRuleNamesPackages(t *testing.T) {
	set, _ := linter(t)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range set {
		named := slices.Clone(r.Allow)
		for _, d := range r.Deny {
			named = append(named, d.Pkg)
		}
		for _, pkg := range named {
			pkg = strings.TrimRight(pkg, "/$")
			if own, yes := strings.CutPrefix(pkg, module+"/"); yes {
				if info, err := os.Stat(filepath.Join(root, own)); err != nil || !info.IsDir() {
					t.Errorf("rule %s: there is no %s", name, pkg)
				}
			} else if strings.Contains(pkg, ".") && !strings.Contains(string(mod), pkg) {
				t.Errorf("rule %s: go.mod has no %s", name, pkg)
			}
		}
	}
}

// Every rule has a canary, a file that the linter must refuse: .ci/run copies them into a
// clone. This test checks each: its package exists, and its rule refuses its import.
func TestEveryRuleHasACanary(t *testing.T) {
	set, _ := linter(t)
	b, err := os.ReadFile(filepath.Join(root, ".ci", "canaries.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	heads := regexp.MustCompile(`(?m)^-- (\S+/canary_([a-z]+)\.go) --\npackage \S+\n\nimport _ "(\S+)"$`).FindAllStringSubmatch(string(b), -1)
	seen := make(map[string]bool)
	for _, h := range heads {
		path, name, pkg := h[1], h[2], h[3]
		if seen[name] = true; len(set[name].matches([]string{path})) != 1 || !set[name].refuses(pkg) {
			t.Errorf("%s: the linter's rule %s is not about it, or allows %s", path, name, pkg)
		}
		if beside, err := filepath.Glob(filepath.Join(root, filepath.Dir(path), "*.go")); err != nil || len(beside) == 0 {
			t.Errorf("%s: no package is there, error %v", path, err)
		}
	}
	for name := range set {
		if !seen[name] {
			t.Errorf("rule %s has no canary in .ci/canaries.txtar", name)
		}
	}
}
