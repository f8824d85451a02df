package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "manual needs the folder to write to")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write writes the folder man1 with a page for each command, and a completion script for each of
// three shells, under the names that distributions give such files. The pages are dated by the
// environment variable SOURCE_DATE_EPOCH, if it is set.
func write(folder string) error {
	root := cli.Commands(all.Reader(), environment)
	pages := filepath.Join(folder, "man1")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // the tag holds the day
	header := &doc.GenManHeader{Section: "1", Source: "Mercer", Manual: "Mercer"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	return complete(root, folder)
}

// complete writes the completion scripts.
func complete(root *cobra.Command, folder string) error {
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(folder, "mercer.bash"), true),
		root.GenZshCompletionFile(filepath.Join(folder, "_mercer")),
		root.GenFishCompletionFile(filepath.Join(folder, "mercer.fish"), true))
}

// environment replaces os.Getenv, so that the pages do not depend on this machine.
func environment(variable string) string {
	if variable == "MERCER_HOME" {
		return "~/.config/mercer"
	}
	return ""
}
