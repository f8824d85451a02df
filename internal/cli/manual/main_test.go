package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// Each command has a page with its sentence, the pages are the same each time, and the scripts ask the
// program for what comes next.
func TestPagesOfAllCommands(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1790000000")
	folder, again := t.TempDir(), t.TempDir()
	for _, f := range []string{folder, again} {
		if err := write(f); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() {
			return
		}
		name := filepath.Join("man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		page := read(t, folder, name)
		if !strings.Contains(page, c.Short) || page != read(t, again, name) {
			t.Errorf("%s", name)
		}
		count++
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(cli.Commands(all.Reader(), environment))
	if entries, err := os.ReadDir(filepath.Join(folder, "man1")); err != nil || len(entries) != count {
		t.Errorf("%d pages for %d commands, %v", len(entries), count, err)
	}
	for _, script := range []string{"mercer.bash", "_mercer", "mercer.fish"} {
		if text := read(t, folder, script); !strings.Contains(text, cobra.ShellCompRequestCmd) || text != read(t, again, script) {
			t.Errorf("%s", script)
		}
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
