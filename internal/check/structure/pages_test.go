package structure_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page is a Markdown file of the repository.
type page struct {
	path string // from the root
	text string
}

// pages reads all Markdown files: in the root, and below docs.
func pages(t *testing.T) []page {
	t.Helper()
	var list []page
	err := fs.WalkDir(os.DirFS(root), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if at != "." && at != "docs" && !strings.HasPrefix(at, "docs/") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(at, ".md"):
			return nil
		}
		b, err := os.ReadFile(path.Join(root, at))
		list = append(list, page{at, string(b)})
		return err
	})
	if err != nil || len(list) < 20 {
		t.Fatalf("%d pages, error %v", len(list), err)
	}
	return list
}

// prose returns the page without the lines of code blocks, which become empty.
func (p page) prose() string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(p.text) {
		fence := strings.HasPrefix(line, "```")
		if fence {
			fenced = !fenced
		}
		if fence || fenced {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

var (
	inlineLink  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	linkMeaning = regexp.MustCompile(`(?m)^\[([^\]]+)\]: (\S+)$`)
	linkByName  = regexp.MustCompile("\\[(`\\w+`)\\](?:[^(:\\[]|$)")
	heading     = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the names of a page's headings in links.
func (p page) anchors() map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(p.prose(), -1) {
		name := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		for base, i := name, 1; all[name]; i++ {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		all[name] = true
	}
	return all
}

// broken returns the links of a page that lead nowhere, given all pages by their paths.
func (p page) broken(all map[string]page, exists func(string) bool) []string {
	var list, targets []string
	known := make(map[string]bool)
	for _, m := range linkMeaning.FindAllStringSubmatch(p.prose(), -1) {
		known[m[1]] = true
		targets = append(targets, m[2])
	}
	for _, m := range linkByName.FindAllStringSubmatch(p.prose(), -1) {
		if !known[m[1]] {
			list = append(list, m[1]+" has no meaning below")
		}
	}
	for _, m := range inlineLink.FindAllStringSubmatch(p.prose(), -1) {
		targets = append(targets, m[1])
	}
	for _, target := range targets {
		if strings.Contains(target, "://") {
			continue
		}
		file, anchor, _ := strings.Cut(target, "#")
		at := path.Join(path.Dir(p.path), file)
		if file == "" {
			at = p.path
		}
		if !exists(at) || anchor != "" && !all[at].anchors()[anchor] {
			list = append(list, target)
		}
	}
	return list
}

// there reports whether a path, which may have stars, leads to a file or folder.
func there(at string) bool {
	list, err := filepath.Glob(path.Join(root, at))
	return err == nil && len(list) > 0
}

// Every link between documents, and from one to a file, leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	all, links := make(map[string]page), 0
	for _, p := range pages(t) {
		all[p.path] = p
		links += len(inlineLink.FindAllString(p.prose(), -1))
	}
	for _, p := range all {
		for _, target := range p.broken(all, there) {
			t.Errorf("%s: %s", p.path, target)
		}
	}
	if links < 50 {
		t.Errorf("%d links in all documents", links)
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	other := page{"docs/b.md", "# Title\n## What it is: a, `b` and 3\n## Twice\n## Twice\n```\n# no heading\n```\n"}
	for text, want := range map[string]string{
		"[a](b.md)":                            "",
		"[a](../docs/b.md#title)":              "",
		"[a](b.md#what-it-is-a-b-and-3)":       "",
		"[a](b.md#twice-1)":                    "",
		"[a](https://example.com/x)":           "",
		"# Own\n[a](#own)":                     "",
		"[a](c.md)":                            "c.md",
		"[a](b.md#no-heading)":                 "b.md#no-heading",
		"[a](b.md#twice-2)":                    "b.md#twice-2",
		"[a](#other)":                          "#other",
		"[`TestA`]\n\n[`TestA`]: b.md":         "",
		"[`TestA`]\n\n[`TestA`]: gone_test.go": "gone_test.go",
		"see [`TestA`], and":                   "`TestA` has no meaning below",
		"```\n[a](gone.md)\n```":               "",
	} {
		p := page{"docs/a.md", text + "\n"}
		all := map[string]page{p.path: p, other.path: other}
		got := strings.Join(p.broken(all, func(at string) bool { _, is := all[at]; return is }), "; ")
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
