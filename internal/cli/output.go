package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
)

// schema names the form of the documents that --json prints.
const schema = "mercer/v1"

// Result holds the findings of a command. It marshals to the result of the JSON
// document.
type Result interface {
	// Print writes the result for people.
	Print(w io.Writer) error
}

// document is the text that --json prints, exactly once.
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

// run makes a command of a function.
func (a *app) run(f func(ctx context.Context, args []string) (Result, error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		r, err := f(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.succeed(name(cmd), r)
	}
}

func (a *app) succeed(command string, r Result) error {
	if a.json {
		return a.print(document{Schema: schema, Command: command, OK: true, Result: r})
	}
	return r.Print(terminal{a.stdout})
}

func (a *app) complain(err error) { a.tell("mercer: " + err.Error()) }

// tell writes a line to stderr. It ignores an error, which could not be reported anywhere.
func (a *app) tell(line string) { _, _ = fmt.Fprintln(a.stderr, printable(line)) }

// print marshals the document before it writes: a result that does not marshal must not
// leave half a document behind.
func (a *app) print(d document) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // messages say "n < f"
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("cli: the result cannot be written as JSON: %w", err)
	}
	_, err := a.stdout.Write(b.Bytes())
	return err
}

// plainText is a result that is one text.
type plainText struct {
	Text string `json:"text"`
}

// Print writes the text.
func (t plainText) Print(w io.Writer) error {
	_, err := io.WriteString(w, t.Text)
	return err
}

// printer writes lines and keeps the first error.
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

// join notes the error of another writer to the same place.
func (p *printer) join(err error) {
	if p.err == nil {
		p.err = err
	}
}

// tableOf prints rows under a header, numbers flush right. It has no lines and
// no colours, so that it reads equally well on a terminal and in a pipe.
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

// numeric reports whether column i holds numbers, or nothing.
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

// paragraph breaks running text into lines for a terminal.
func paragraph(s string) string {
	lines := strings.Split(text.WrapSoft(s, 80), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// terminal writes text for people. Names of classes, rows and files may come from
// others, and control characters in them could forge output on the terminal.
type terminal struct{ w io.Writer }

// Write shows control characters, except tabs and ends of lines, as U+FFFD.
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
