package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
)

// schema is the version of the documents that --json prints.
const schema = "mercer/v1"

// Result is the result of a command. It is marshalled into the result of the JSON document.
type Result interface {
	// Print writes the result for people.
	Print(w io.Writer) error
}

// document is the JSON text that --json prints once for each command, except one that follows events.
type document struct {
	Schema  string     `json:"schema"`
	Command string     `json:"command"`
	OK      bool       `json:"ok"`
	Result  Result     `json:"result,omitempty"`
	Error   *complaint `json:"error,omitempty"`
}

type complaint struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

// run turns a function into the code of a command, which prints the function's result.
func (a *app) run(f func(ctx context.Context, args []string) (Result, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := f(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.succeed(commandName(cmd), r)
	}
}

func (a *app) succeed(command string, r Result) error {
	defer a.notices.told(a) // those that the result does not show
	if r == (printed{}) {
		return nil
	}
	if a.json {
		return a.print(document{Schema: schema, Command: command, OK: true, Result: r})
	}
	if shows, ok := r.(noticed); ok {
		r = shows.with(a.notices.take())
	}
	return r.Print(terminal{a.stdout})
}

func (a *app) complain(err error) { a.tell("mercer: " + message(err)) }

// packages matches the name of a package that begins an error of the library, or of a part of it. A
// developer needs the name; a user does not know it.
var packages = regexp.MustCompile(`(^|: )(?:(?:cells|columnorder|coordinator|daemon|dataset|device|devices|disk|issuer|job|learner|model|onnx|psi|roster|secvm|svm): )+`)

// message returns the text of an error for users.
func message(err error) string { return packages.ReplaceAllString(err.Error(), "$1") }

// tell writes a line to stderr. It ignores a write error, because no place is left to report it.
func (a *app) tell(line string) { _, _ = fmt.Fprintln(a.stderr, printable(line)) }

// print writes a document as JSON. It marshals the whole document first, so that an error leaves no
// partial output.
func (a *app) print(d document) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // messages contain characters such as <
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("cli: the result cannot be converted to JSON: %w", err)
	}
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// plainText is a result that consists of one text.
type plainText struct {
	Text string `json:"text"`
}

// Print writes the text.
func (t plainText) Print(w io.Writer) error {
	_, err := io.WriteString(w, t.Text)
	return err
}

// printer writes lines and remembers the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) linef(format string, args ...any) {
	if p.err == nil {
		p.err = linef(p.w, format, args...)
	}
}

func linef(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}

// join records the error of code that writes to the output without the printer.
func (p *printer) join(err error) {
	if p.err == nil {
		p.err = err
	}
}

// tableOf prints rows under a header, with numbers aligned on the right. It uses neither lines nor
// colours, so that the output is readable on a terminal and in a pipe.
type tableOf struct {
	header []string
	rows   [][]any
}

func (t *tableOf) add(cells ...any) { t.rows = append(t.rows, cells) }

func (t *tableOf) print(w io.Writer) error {
	out := table.NewWriter()
	out.SetStyle(plainStyle())
	out.SuppressTrailingSpaces()
	head := make(table.Row, len(t.header))
	var columns []table.ColumnConfig
	for i, h := range t.header {
		head[i] = h
		if t.numeric(i) {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	out.SetColumnConfigs(columns)
	out.AppendHeader(head)
	for _, r := range t.rows {
		out.AppendRow(r)
	}
	_, err := fmt.Fprintln(w, out.Render())
	return err
}

// numeric reports whether all cells of column i are numbers, texts that begin like a number, or empty.
func (t *tableOf) numeric(i int) bool {
	for _, r := range t.rows {
		if s, ok := r[i].(string); ok && s != "" && (s[0] < '0' || s[0] > '9') && s[0] != '-' {
			return false
		}
	}
	return true
}

func plainStyle() table.Style {
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Format.Header = text.FormatDefault
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	return s
}

// paragraph wraps a text for a terminal.
func paragraph(s string) string {
	lines := strings.Split(text.WrapSoft(s, 80), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// terminal writes text for people. Names of classes, rows and files can come from others, and their
// control characters could forge output on a terminal.
type terminal struct{ w io.Writer }

// Write replaces control characters by U+FFFD, except tabs and line feeds.
func (t terminal) Write(p []byte) (int, error) {
	if _, err := io.WriteString(t.w, printable(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
