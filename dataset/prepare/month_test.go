package prepare

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// Every name that the Unicode CLDR has for a month in these languages is read, with and without
// accents and a period, in every case and Unicode form.
func TestMonthsOfSevenLanguages(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "months.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Language, Letter string
		Names            []string
	}
	if err := json.Unmarshal(b, &entries); err != nil {
		t.Fatal(err)
	}
	if len(entries) < 52 {
		t.Fatalf("only %d lists of names", len(entries))
	}
	for _, e := range entries {
		for i, name := range e.Names {
			bare := strings.TrimSuffix(name, ".")
			written := []string{name, bare, strings.ToUpper(name), norm.NFD.String(name), foldMonth(bare)}
			if e.Letter == "b" {
				written = append(written, bare+".")
			}
			for _, word := range written {
				for _, form := range [][2]string{{"1 %s 2024", "%%d %%%s %%Y"}, {"1%s2024", "%%d%%%s%%Y"}, {"%s-1-2024", "%%%s-%%d-%%Y"}} {
					cell, format := fmt.Sprintf(form[0], word), fmt.Sprintf(form[1], e.Letter)
					if m, err := parseDate(cell, format); err != nil || m.month != i+1 {
						t.Errorf("%s: %q by %s is month %d, want %d (%v)", e.Language, cell, format, m.month, i+1, err)
					}
				}
			}
		}
	}
}

// A name that means different months in two languages would need a key for the language.
func TestNoMonthHasTwoMeanings(t *testing.T) {
	meaning := make(map[string]int)
	for _, lines := range [][12]string{fullNames, shortNames} {
		for i, line := range lines {
			for _, name := range strings.Fields(line) {
				if name != foldMonth(name) || len(name) > longestMonth-4 {
					t.Errorf("the name %s is not folded, or too long", name)
				}
				if other, known := meaning[name]; known && other != i+1 {
					t.Errorf("%s is month %d and month %d", name, other, i+1)
				}
				meaning[name] = i + 1
			}
		}
	}
}

// What stands around the name belongs to the format.
func TestMonthsInCells(t *testing.T) {
	for _, tt := range []struct {
		word, format string
		month        int // 0: no date
	}{
		{"1. März 2024", "%d. %B %Y", 3}, {"1. Mrz. 2024", "%d. %b. %Y", 3}, {"1. Mrz. 2024", "%d. %b %Y", 3}, {"1.Mai.2024", "%d.%b.%Y", 5},
		{"1er août 2024", "%der %B %Y", 8}, {"15 de marzo de 2024", "%d de %B de %Y", 3}, {"1demaide2024", "%dde%bde%Y", 5}, {"2024-maggio-01", "%Y-%B-%d", 5},
		{"24 grudnia 2024", "%d %B %Y", 0}, {"24 Dezem 2024", "%d %b %Y", 0}, {"1 March. 2024", "%d %B %Y", 0}, {"1 mar.. 2024", "%d %b %Y", 0}, {"1 Marchx 2024", "%d %B %Y", 0},
		{"1 March 2024", "%d %b %Y", 0}, {"1 Mar 2024", "%d %B %Y", 0}, {"1 jui 2024", "%d %b %Y", 0}, {"1  2024", "%d %b %Y", 0}, {"1 \xff 2024", "%d %b %Y", 0},
		{"1 " + strings.Repeat("mars", 100) + " 2024", "%d %b %Y", 0}, {"mars", "%b", 3}, {"30 fév 2024", "%d %b %Y", 0},
	} {
		m, err := parseDate(tt.word, tt.format)
		if (err == nil) != (tt.month > 0) || err == nil && m.month != tt.month {
			t.Errorf("%q by %s is month %d, want %d (%v)", tt.word, tt.format, m.month, tt.month, err)
		}
	}
}
