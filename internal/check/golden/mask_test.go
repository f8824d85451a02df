package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// masked are the keys whose values differ from run to run.
var masked = []string{"cpu_s", "date", "peak_rss_bytes", "pid", "processes", "total_s", "version"}

// longest is the length of the longest list that is written out.
const longest = 24

// masker replaces values that differ from run to run, and long values by their hash.
type masker struct {
	briefly bool              // leakage too
	long    map[string]string // the values behind hashes, for finding a difference
	late    bool              // the bytes that members receive, too
}

// late reports whether a result or a page is of a job by protocol sealed. Its keepers end as soon as they have the
// model, and do not wait for the last words of the others: which of these arrive in time differs from run to run.
func late(text string) bool {
	return strings.Contains(text, `protocol:\n    name: sealed\n`) || strings.Contains(text, "protocol:\n    name: sealed\n")
}

func (m masker) hash(what, text string) string {
	sum := sha256.Sum256([]byte(text))
	s := what + ", sha256 " + hex.EncodeToString(sum[:12])
	m.long[s] = text
	return s
}

// document decodes one JSON document and masks it.
func (m masker) document(t *testing.T, text string) any {
	t.Helper()
	m.late = late(text)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one document")
		}
	}
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return m.value("", v)
}

func (m masker) value(key string, v any) any {
	switch at := v.(type) {
	case map[string]any:
		for k, inner := range at {
			switch {
			case slices.Contains(masked, k) || key == "timings_s" || m.late && k == "received_bytes":
				at[k] = mask(inner)
			case k == "leakage" && m.briefly:
				at[k] = m.hash("leakage", encode(inner))
			default:
				at[k] = m.value(k, inner)
			}
		}
	case []any:
		if len(at) > longest {
			return m.hash(fmt.Sprintf("list of %d", len(at)), encode(at))
		}
		for i, inner := range at {
			at[i] = m.value("", inner)
		}
	}
	return v
}

// mask keeps only the kind of a value.
func mask(v any) any {
	switch at := v.(type) {
	case nil:
		return nil
	case []any:
		return fmt.Sprintf("masked: %d values", len(at))
	}
	return "masked"
}

// encode returns a value's JSON, without escapes and with sorted keys.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(err) // decoded values always encode
	}
	return b.String()
}

var (
	seconds  = regexp.MustCompile(`\b[0-9]+(\.[0-9]+)? m?s\b`)
	partyRow = regexp.MustCompile(`^(\S+) +[0-9]+ +(\S+ \S+) +(\S+ \S+) +\S+ +\S+ \S+$`)
	blanks   = regexp.MustCompile(` {2,}`)
)

// text masks output for people, line by line.
func (m masker) text(s string) []string {
	var lines, role []string
	leaks, parties := false, false
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
			if leaks {
				lines = append(lines, m.hash("leakage", strings.Join(role, "\n")))
			}
			leaks, parties = false, false
		case strings.HasPrefix(line, "What each role "):
			leaks = true
		case strings.HasPrefix(line, "party ") && strings.Contains(line, "peak memory"):
			parties, line = true, blanks.ReplaceAllString(line, "  ")
		case leaks:
			role = append(role, line)
			continue
		case parties:
			line = partyRow.ReplaceAllString(line, "$1  #  $2  $3  #  #")
		}
		lines = append(lines, seconds.ReplaceAllString(line, "# s"))
	}
	return lines
}

var (
	took     = regexp.MustCompile(`<span class="value">[0-9.]+ m?s</span>`)
	dated    = regexp.MustCompile(`(<tr><th scope="row">(?:Date|Mercer)</th><td>)[^<]*`)
	headings = regexp.MustCompile(`<h2>(.*?)</h2>`)
	digits   = regexp.MustCompile(`[0-9]+(\.[0-9]+)?( m?s\b)?`)
)

// page returns a hash for each section of an HTML page.
func (m masker) page(s string) any {
	sections := make(map[string]string)
	for i, section := range strings.Split(s, "<section>") {
		name := "head"
		if h := headings.FindStringSubmatch(section); i > 0 && h != nil {
			name = h[1]
		}
		var lines strings.Builder
		for line := range strings.Lines(section) {
			if took.MatchString(line) || name == "What it took" && late(s) {
				line = digits.ReplaceAllString(line, "#")
			}
			lines.WriteString(dated.ReplaceAllString(line, "${1}#"))
		}
		sections[name] += m.hash("section", lines.String())
	}
	return sections
}
