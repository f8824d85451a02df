package cli

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/all"
)

// documents are the pages of the repository's root, by their names.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := make(map[string]string)
	for _, name := range []string{"README.md", "SECURITY.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
		b, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(b)
	}
	return pages
}

var (
	inFence    = regexp.MustCompile("(?ms)^```\\n(.*?)^```")
	inTicks    = regexp.MustCompile("`(mercer [^`]*)`")
	yamlFence  = regexp.MustCompile("(?ms)^```yaml\\n(.*?)^```")
	testName   = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	testInFile = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	link       = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	goFile     = regexp.MustCompile("`([\\w/]+_test\\.go)`")
)

// commandsIn finds the commands that a page shows, in lines of their own and
// within sentences.
func commandsIn(page string) []string {
	var list []string
	for _, fence := range inFence.FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(strings.ReplaceAll(fence[1], "\\\n", " ")) {
			line, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "go run ./cmd/")), " #")
			if strings.HasPrefix(line, "mercer ") {
				list = append(list, line)
			}
		}
	}
	for _, m := range inTicks.FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// Every command that a document shows exists, with its flags.
func TestDocumentsShowCommandsThatExist(t *testing.T) {
	count := 0
	for name, page := range documents(t) {
		for _, line := range commandsIn(page) {
			line, _, _ = strings.Cut(line, " >")
			for _, verb := range alternatives(strings.Fields(line)[1:]) {
				root := testApp(io.Discard, io.Discard).root()
				cmd, rest, err := root.Find(verb)
				if err == nil && cmd == root {
					t.Errorf("%s: %q is no command", name, line)
					continue
				}
				if err == nil {
					err = cmd.ParseFlags(rest)
				}
				if err == nil && cmd.HasSubCommands() {
					err = cmd.ValidateArgs(cmd.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: %q: %v", name, line, err)
				}
				count++
			}
		}
	}
	if count < 20 {
		t.Errorf("%d commands found in all documents", count)
	}
}

// placeholder is a word in the place of an argument, such as NAME or JOB.yaml.
var placeholder = regexp.MustCompile(`^[A-Z]{2,}(\.yaml)?$`)

// alternatives are the commands that a|b stands for, without placeholders.
func alternatives(words []string) [][]string {
	for i, word := range words {
		if placeholder.MatchString(word) {
			return alternatives(slices.Delete(slices.Clone(words), i, i+1))
		}
		if first, others, more := strings.Cut(word, "|"); more {
			one, rest := slices.Clone(words), slices.Clone(words)
			one[i], rest[i] = first, others
			return append([][]string{one}, alternatives(rest)...)
		}
	}
	return [][]string{words}
}

// The jobs that the README shows are jobs. One that begins with sections of a
// specification has the others from what stands above it under the same heading,
// or else from the first job.
func TestReadmeShowsJobs(t *testing.T) {
	count := 0
	var first, now spec
	for _, part := range strings.Split(documents(t)["README.md"], "\n## ") {
		heading, _, _ := strings.Cut(part, "\n")
		now = first
		for _, m := range yamlFence.FindAllStringSubmatch(part, -1) {
			switch text := m[1]; {
			case strings.HasPrefix(text, "apiVersion"):
				head, body, _ := strings.Cut(text, "spec:\n")
				first = spec{head: head + "spec:\n"}.with(body)
				now = first
			case strings.HasPrefix(text, "  "):
				now = now.with(text)
			default:
				continue // a party's configuration
			}
			count++
			if _, err := all.Reader().Parse("README.md", []byte(now.String())); err != nil {
				t.Errorf("%s: %v\n%s", heading, err, now)
			}
		}
	}
	if count < 6 {
		t.Errorf("README.md shows %d jobs", count)
	}
}

// spec is a job file in sections.
type spec struct {
	head     string
	sections []string // each begins with "  name:"
}

func (s spec) String() string { return s.head + strings.Join(s.sections, "") }

// with replaces the sections that text has.
func (s spec) with(text string) spec {
	for _, section := range splitSections(text) {
		name, _, _ := strings.Cut(section, ":")
		rest := slices.DeleteFunc(slices.Clone(s.sections), func(old string) bool { return strings.HasPrefix(old, name+":") })
		s.sections = append(rest, section)
	}
	return s
}

func splitSections(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "   ") || len(list) == 0 {
			list = append(list, "")
		}
		list[len(list)-1] += line
	}
	return list
}

// Every test and every file that a document names exists. A name that ends in a
// digit stands for the tests whose names begin with it.
func TestDocumentsNameWhatExists(t *testing.T) {
	tests, cited := testsOfTheRepository(t), 0
	for name, page := range documents(t) {
		for _, test := range testName.FindAllString(page, -1) {
			cited++
			numbered := strings.Contains("0123456789", test[len(test)-1:]) && strings.Contains(tests, " "+test)
			if !numbered && !strings.Contains(tests, " "+test+" ") {
				t.Errorf("%s: there is no %s", name, test)
			}
		}
		for _, m := range append(link.FindAllStringSubmatch(page, -1), goFile.FindAllStringSubmatch(page, -1)...) {
			if _, err := os.Stat(filepath.Join("..", "..", m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if cited < 20 {
		t.Errorf("%d tests are named in all documents", cited)
	}
}

// testsOfTheRepository are the names of all tests, with a blank before and after
// each.
func testsOfTheRepository(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	all.WriteString(" ")
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(filepath.Join("..", "..", path))
		for _, m := range testInFile.FindAllStringSubmatch(string(b), -1) {
			all.WriteString(m[1] + " ")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
