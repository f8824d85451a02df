package structure_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	namedTest     = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)(?:[A-Z]\w*|\d\w*)`)
	madeTest      = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	namedRules    = regexp.MustCompile(`(?i)\brules? (\d+(?:(?:, | and | or | to )\d+)*)`)
	ruleOfTest    = regexp.MustCompile(`\bTestRule(\d+)`)
	bracketedTest = regexp.MustCompile("\\[(`(?:Test|Fuzz|Benchmark)\\w+`)\\](?:[^(]|$)")
	madeRule      = regexp.MustCompile(`(?m)^### (\d+)\. `)
	number        = regexp.MustCompile(`\d+`)
	namedPage     = regexp.MustCompile(`\bdocs/[\w/.-]+\.md\b`)
	inTicks       = regexp.MustCompile("`([^`\n]+)`")
	pathLike      = regexp.MustCompile(`^[\w.][\w./{},*-]*/[\w./{},*-]*$`)
	packageOfPlan = regexp.MustCompile(`(?m)(^layer \d {3}|^\w* {2,})((?:internal|protocol|learn|cmd)/[\w/{},.]+)( )`)
	choice        = regexp.MustCompile(`\{([^{}]*)\}`)
)

// comments returns the comments of a Go file, one line each.
func comments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if _, comment, is := strings.Cut(line, "//"); is {
			b.WriteString(comment)
		}
	}
	return b.String()
}

// goFiles reads all Go files, including tests, by their paths.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(root), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && at != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(at, ".go"):
			return nil
		}
		b, err := os.ReadFile(path.Join(root, at))
		all[at] = string(b)
		return err
	})
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d Go files, error %v", len(all), err)
	}
	return all
}

// citations lists the tests, rules and files that texts may cite.
type citations struct {
	tests, rules map[string]bool
	exists       func(string) bool
}

func (c citations) hasTest(name string) bool {
	if c.tests[name] {
		return true
	}
	for test := range c.tests { // TestRule3 stands for the tests whose names start with it
		if strings.ContainsAny(name[len(name)-1:], "0123456789") && strings.HasPrefix(test, name) {
			return true
		}
	}
	return false
}

// missing returns the tests, rules and pages that a text cites and that do not exist.
func (c citations) missing(text string) []string {
	lost := make(map[string]bool)
	for _, name := range namedTest.FindAllString(text, -1) {
		if name != "TestMain" && !c.hasTest(name) {
			lost[name] = true
		}
	}
	for _, m := range append(namedRules.FindAllStringSubmatch(text, -1), ruleOfTest.FindAllStringSubmatch(text, -1)...) {
		for _, n := range number.FindAllString(m[1], -1) {
			if !c.rules[n] {
				lost["rule "+n] = true
			}
		}
	}
	for _, name := range namedPage.FindAllString(text, -1) {
		if !c.exists(name) {
			lost[name] = true
		}
	}
	return slices.Sorted(maps.Keys(lost))
}

// missingPaths returns the paths between back-quotes that do not exist.
func (c citations) missingPaths(text string) []string {
	lost := make(map[string]bool)
	for _, m := range inTicks.FindAllStringSubmatch(text, -1) {
		top, _, below := strings.Cut(m[1], "/")
		if !below || !pathLike.MatchString(m[1]) || !c.exists(top) || top == ".." {
			continue
		}
		for _, at := range spread(strings.TrimSuffix(m[1], "/...")) {
			if !c.exists(at) {
				lost[at] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(lost))
}

// spread returns the paths for which a/{b,c} stands.
func spread(at string) []string {
	m := choice.FindStringSubmatchIndex(at)
	if m == nil {
		return []string{at}
	}
	var list []string
	for one := range strings.SplitSeq(at[m[2]:m[3]], ",") {
		list = append(list, spread(at[:m[0]]+one+at[m[1]:])...)
	}
	return list
}

func cited(t *testing.T, files map[string]string) citations {
	t.Helper()
	c := citations{make(map[string]bool), make(map[string]bool), there}
	for at, text := range files {
		if strings.HasSuffix(at, "_test.go") {
			for _, m := range madeTest.FindAllStringSubmatch(text, -1) {
				c.tests[m[1]] = true
			}
		}
	}
	rules, err := os.ReadFile(path.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range madeRule.FindAllStringSubmatch(string(rules), -1) {
		c.rules[m[1]] = true
	}
	if len(c.tests) < 1000 || len(c.rules) < 30 {
		t.Fatalf("%d tests, %d rules", len(c.tests), len(c.rules))
	}
	return c
}

// Every test, rule, page and path that a document or a comment cites exists.
func TestCitations(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	files := goFiles(t)
	c := cited(t, files)
	for _, p := range pages(t) {
		text := packageOfPlan.ReplaceAllString(p.text, "$1`$2`$3")
		for _, lost := range append(c.missing(p.text), c.missingPaths(text)...) {
			t.Errorf("%s cites %s", p.path, lost)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(files)) {
		text := comments(files[at])
		if strings.HasPrefix(at, "internal/check/structure/") {
			continue // examples of missing ones
		}
		for _, lost := range c.missing(text) {
			t.Errorf("%s cites %s", at, lost)
		}
	}
}

func TestWhatIsMissingIsFound(t *testing.T) {
	has := map[string]bool{"docs/a.md": true, "internal": true, "internal/a": true, "internal/b": true}
	c := citations{
		tests: map[string]bool{"TestA": true, "TestRule3TwoWords": true, "BenchmarkB": true}, rules: map[string]bool{"3": true, "4": true},
		exists: func(at string) bool { return has[at] },
	}
	for text, want := range map[string]string{
		"see TestA and BenchmarkB, or TestRule3":           "",
		"see TestB":                                        "TestB",
		"TestRule5TwoWords":                                "TestRule5TwoWords, rule 5",
		"the testing package, Tests and Testing":           "",
		"Rule 3 and rules 3 and 4":                         "",
		"rules 3, 4 and 5; a rule 6":                       "rule 5, rule 6",
		"docs/a.md, docs/b.md":                             "docs/b.md",
		"`internal/a`, `internal/{a,b}`, `internal/a/...`": "",
		"`internal/c` and `internal/{a,d}`":                "internal/c, internal/d",
		"`application/json`, `a/b`, internal/c":            "",
	} {
		if got := strings.Join(append(c.missing(text), c.missingPaths(text)...), ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := comments("a // TestB\n\"x\"\n// TestC"); got != " TestB\n TestC" {
		t.Errorf("comments are %q", got)
	}
}

// At its end a page links each cited test to the test's file.
func TestTestsStandWhereLinksLead(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	files, links := goFiles(t), 0
	for _, p := range pages(t) {
		for _, fault := range p.misplaced(func(at string) string { return files[at] }) {
			t.Errorf("%s: %s", p.path, fault)
		}
		links += len(linkMeaning.FindAllString(p.text, -1))
	}
	if links < 200 {
		t.Errorf("%d tests are linked", links)
	}
}

// misplaced returns the tests whose links lead to a file without them, the links that
// the page does not use, and the tests in brackets that have no link.
func (p page) misplaced(read func(string) string) []string {
	var list []string
	text := linkMeaning.ReplaceAllString(p.text, "")
	for _, m := range bracketedTest.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(p.text, "\n["+m[1]+"]: ") {
			list = append(list, strings.Trim(m[1], "`")+" has no link")
		}
	}
	for _, m := range linkMeaning.FindAllStringSubmatch(p.text, -1) {
		name, file := strings.Trim(m[1], "`"), path.Join(path.Dir(p.path), m[2])
		if !strings.Contains(text, "["+m[1]+"]") {
			list = append(list, name+" is not cited")
		}
		if madeTest.MatchString("func "+name+"(") && !strings.Contains(read(file), "\nfunc "+name+"(") {
			list = append(list, name+" is not in "+file)
		}
	}
	return list
}

func TestMisplacedTestsAreFound(t *testing.T) {
	read := func(at string) string {
		return map[string]string{"a/a_test.go": "package a\n\nfunc TestA(t *testing.T) {}\n"}[at]
	}
	for text, want := range map[string]string{
		"see [`TestA`].\n\n[`TestA`]: ../a/a_test.go": "",
		"see [page].\n\n[page]: b.md":                 "",
		"see TestA.\n\n[`TestA`]: ../a/a_test.go":     "TestA is not cited",
		"see [`TestA`].":                              "TestA has no link",
		"see [`TestA`](../a/a_test.go).":              "",
		"see [`TestA`].\n\n[`TestA`]: ../b_test.go":   "TestA is not in b_test.go",
		"see [`TestB`].\n\n[`TestB`]: ../a/a_test.go": "TestB is not in a/a_test.go",
	} {
		if got := strings.Join(page{"docs/a.md", text + "\n"}.misplaced(read), ", "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// untested are sentences of the rules that have no test, with the reason.
var untested = regexp.MustCompile(`\*\*Not built:\*\*|Nothing needs to be\s+enforced|no test can\s+enforce it`)

// The rules are numbered from 1 without a gap. Each names its tests, or the reason for
// having none.
func TestRulesAreNumberedAndTested(t *testing.T) {
	text, err := os.ReadFile(path.Join(root, "docs", "rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules, _, _ := strings.Cut(string(text), "\n## What no rule prevents")
	for i, rule := range strings.Split(rules, "\n### ")[1:] {
		title, body, _ := strings.Cut(rule, "\n")
		if !strings.HasPrefix(title, fmt.Sprintf("%d. ", i+1)) {
			t.Errorf("%q is not rule %d", title, i+1)
		}
		if !linkByName.MatchString(body) && !untested.MatchString(body) {
			t.Errorf("%q has no test and no reason", title)
		}
	}
}
