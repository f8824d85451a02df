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

// documents are the pages of the repository's root and of docs, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := make(map[string]string)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		names, err := fs.Glob(os.DirFS("../.."), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d pages, error %v", pattern, len(names), err)
		}
		for _, name := range names {
			b, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			pages[name] = string(b)
		}
	}
	return pages
}

var (
	substituted = regexp.MustCompile(`\$\([^)]*\)`)
	piped       = regexp.MustCompile(` (\d?>+|&|\|)( .*)?$`)
	inTicks     = regexp.MustCompile("`(mercer [^`]*)`")
	yamlFence   = regexp.MustCompile("(?ms)^```yaml\\n(.*?)^```")
)

// shell returns the lines of a page's blocks without a language and of those in sh.
func shell(page string) string {
	var b strings.Builder
	fenced, shown := false, false
	for line := range strings.Lines(page) {
		switch language, fence := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case fence && fenced:
			fenced, shown = false, false
		case fence:
			fenced, shown = true, language == "" || language == "sh"
		case shown:
			b.WriteString(line)
		}
	}
	return b.String()
}

// commandsIn finds the commands that a page shows, in lines of their own and
// within sentences.
func commandsIn(page string) []string {
	var list []string
	for line := range strings.Lines(strings.ReplaceAll(shell(page), "\\\n", " ")) {
		line, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "go run ./cmd/")), " #")
		if strings.HasPrefix(line, "mercer ") {
			list = append(list, line)
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
			line = piped.ReplaceAllString(substituted.ReplaceAllString(line, "x"), "")
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
	if count < 60 {
		t.Errorf("%d commands found in all documents", count)
	}
}

// placeholder is a word in the place of an argument, such as NAME or JOB.yaml.
var placeholder = regexp.MustCompile(`^[A-Z]{2,}(\.yaml)?$`)

// alternatives are the commands that a|b stands for, without placeholders.
func alternatives(words []string) [][]string {
	for i, word := range words {
		if placeholder.MatchString(word) && !strings.HasPrefix(words[max(i, 1)-1], "--") {
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

// The jobs that docs/training.md shows are jobs. One that begins with sections of a
// specification has the others from what stands above it under the same heading,
// or else from the first job.
func TestTrainingShowsJobs(t *testing.T) {
	count := 0
	var first, now spec
	for _, part := range strings.Split(documents(t)["docs/training.md"], "\n## ") {
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
			if _, err := all.Reader().Parse("training.md", []byte(now.String())); err != nil {
				t.Errorf("%s: %v\n%s", heading, err, now)
			}
		}
	}
	if count < 6 {
		t.Errorf("docs/training.md shows %d jobs", count)
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

// groupIn finds a command of a group in a comment or a text of the program.
var groupIn = regexp.MustCompile(`\bmercer (job|release|federation|data|model) ([a-z-]+)`)

// Every command of a group that the program's comments and texts name exists.
func TestSourcesNameCommandsThatExist(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	count := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(filepath.Join("..", "..", path))
		for _, m := range groupIn.FindAllStringSubmatch(string(b), -1) {
			count++
			cmd, _, err := testApp(io.Discard, io.Discard).root().Find(m[1:])
			if err != nil || cmd.Name() != m[2] {
				t.Errorf("%s: %q is no command", path, m[0])
			}
		}
		return err
	})
	if err != nil || count < 30 {
		t.Errorf("%d commands are named in the program, error %v", count, err)
	}
}
