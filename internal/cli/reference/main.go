package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "reference needs the folder of the pages")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	pages, err := pages(folder)
	if err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pages returns the generated pages by name. The generated pages link only to pages of protocols
// that exist in the folder.
func pages(folder string) (map[string][]byte, error) {
	job, err := newJobPage(folder)
	if err != nil {
		return nil, err
	}
	list := make(map[string][]byte)
	for name, data := range map[string]any{"job.md": job, "commands.md": newCommandPage()} {
		if list[name], err = render(name, data); err != nil {
			return nil, err
		}
	}
	return list, nil
}

//go:embed *.tmpl
var templates embed.FS

func render(name string, data any) ([]byte, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"code": codeText, "cell": cell, "wrap": wrap}).ParseFS(templates, name+".tmpl")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.ExecuteTemplate(&b, name+".tmpl", data)
	return b.Bytes(), err
}

// codeText formats a text as code in a cell of a table.
func codeText(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// cell formats a sentence for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)
}

// width is the largest length of a line in a paragraph.
const width = 100

// wrap wraps a paragraph into lines.
func wrap(text string) string {
	var b strings.Builder
	length := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case length+1+len(word) > width:
			b.WriteByte('\n')
			length = 0
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}

// links returns links to headings as a list, indented by two more blanks. names and anchors have
// equal lengths.
func links(names, anchors []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = fmt.Sprintf("[%s](#%s)", strings.ReplaceAll(name, " ", unbroken), anchors[i])
	}
	text := strings.ReplaceAll(wrap(strings.Join(parts, ", ")), "\n", "\n  ")
	return strings.ReplaceAll(text, unbroken, " ")
}

// unbroken stands for a blank at which a line must not be broken.
const unbroken = "\x00"
