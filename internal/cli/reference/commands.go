package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// commandPage is the content of docs/commands.md.
type commandPage struct {
	About    string
	Codes    []exit
	Flags    []flag // flags of every command; of them svm-train and svm-predict have only --json
	Commands commands
}

// exit is an exit code with its meaning.
type exit struct {
	Code  int
	Means string
}

type command struct {
	Name, Anchor, Short, Long, Usage, Example string
	Flags                                     []flag
	Commands                                  commands // names of the commands one level below
}

type commands []command

// Links returns links to the headings of the commands.
func (c commands) Links() string {
	var names, anchors []string
	for _, one := range c {
		names, anchors = append(names, one.Name), append(anchors, one.Anchor)
	}
	return links(names, anchors)
}

type flag struct{ Name, Default, Means string }

// environment replaces os.Getenv, so that the page does not depend on this machine. The default
// home is that of Linux.
func environment(variable string) string {
	if variable == "MERCER_HOME" {
		return "~/.config/mercer"
	}
	return ""
}

func newCommandPage() *commandPage {
	root := cli.Commands(all.Reader(), environment)
	p := &commandPage{About: root.Long, Flags: flagsOf(root.PersistentFlags()), Codes: []exit{
		{cli.Done, "The command succeeded."},
		{cli.Failed, "The command failed or was interrupted."},
		{cli.Usage, "The arguments, the job file or the data are wrong."},
		{cli.Refused, "A party's policy refused, or the model is private."},
		{cli.Misbehaved, "A peer misbehaved; the message names it."},
		{cli.TimedOut, "A time limit was exceeded."},
	}}
	for _, c := range root.Commands() {
		p.add(c)
	}
	return p
}

// add adds a command and its subcommands to the page.
func (p *commandPage) add(c *cobra.Command) {
	if c.Hidden {
		return
	}
	one := named(c)
	one.Long, one.Usage, one.Flags = c.Long, strings.TrimSuffix(c.UseLine(), " [flags]"), flagsOf(c.NonInheritedFlags())
	one.Example = strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n")
	for _, below := range c.Commands() {
		one.Commands = append(one.Commands, named(below))
	}
	p.Commands = append(p.Commands, one)
	for _, below := range c.Commands() {
		p.add(below)
	}
}

func named(c *cobra.Command) command {
	return command{Name: c.CommandPath(), Anchor: strings.ReplaceAll(c.CommandPath(), " ", "-"), Short: c.Short}
}

func flagsOf(set *pflag.FlagSet) (list []flag) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, means := pflag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		list = append(list, flag{"--" + f.Name + value, defaultOf(f), means})
	})
	return list
}

// defaultOf returns the default of a flag, or "" if it is false or the flag's description already states it.
func defaultOf(f *pflag.Flag) string {
	if f.Value.Type() == "bool" && f.DefValue == "false" || strings.Contains(f.Usage, "default") {
		return ""
	}
	return f.DefValue
}
