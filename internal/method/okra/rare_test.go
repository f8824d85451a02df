package okra

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

// smokers is a table of that many people of two words, and the given ones.
func smokers(seed uint64, n int, more ...string) string {
	r := rand.New(rand.NewPCG(seed, 1))
	lines := []string{"age,hiv,smoker,label"}
	for range n {
		lines = append(lines, fmt.Sprintf("%d,no,%s,%c", 20+r.IntN(60), []string{"never", "often"}[r.IntN(2)], 'a'+rune(r.IntN(2))))
	}
	return strings.Join(append(lines, more...), "\n") + "\n"
}

// fittedSum returns the sum that a party receives in a fit.
func fittedSum(p *party) []int64 {
	v := reflect.ValueOf(p.Party).Elem().FieldByName("fit").FieldByName("sum")
	sum := make([]int64, v.Len())
	for i := range sum {
		sum[i] = v.Index(i).Int()
	}
	return sum
}

// A single party with made-up rows adds a hundred words to the union, the most that one party can
// add, so that all parties count them. It receives no count of a word that another party has fewer
// than ten times, with two parties or three, including listed words.
func TestAttackDictionaryOfRareWords(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	dictionary := []string{"HIV", "lepra", "smith jane 1971", "often enough"}
	for len(dictionary) < prepare.MaxAgreed-2 { // of never and often it has enough, too
		dictionary = append(dictionary, fmt.Sprintf("word %03d", len(dictionary)))
	}
	var bait []string
	for _, word := range dictionary {
		for i := range 4 * prepare.Least { // enough of them train: equal rows are held out together
			bait = append(bait, fmt.Sprintf("%d,no,%s,a", 20+i, word))
		}
	}
	secret := []string{"41,yes,HIV,a", "42,yes,smith jane 1971,b"}
	for i := range 4 * prepare.Least { // which the others may count
		secret = append(secret, fmt.Sprintf("%d,no,often enough,a", 20+i))
	}
	const schema = "age: {range: [0, 120], missing: mean}, hiv: {type: category, categories: [no, yes], missing: most-frequent}, smoker: {type: category, categories: agree, missing: most-frequent}"
	for _, parties := range []string{"[north, south]", "[north, south, east]"} {
		text := strings.NewReplacer("[north, south]", parties, "test: %s", "test: {fraction: 0.25}", "scale: %s", "schema: {"+schema+"}\n    scale: none").Replace(jobFile)
		j := read(t, text)
		tables := make(map[string]method.Table)
		for name, csv := range map[string]string{"north": smokers(1, 150, secret...), "south": smokers(2, 150, bait...), "east": smokers(3, 150)} {
			tables[name] = tableOf(t, j.Data.Schema, name, csv)
			table := tables[name]
			table.Key = dataset.SplitKey{byte(len(name)), 7}
			tables[name] = table
		}
		f := methodtest.Join[*server, *party](t, Protocol(), j, tables)
		for i := range f.Index(t, "prepared") + 1 {
			f.Step(t, i)
		}
		south := f.Parties["south"]
		count := counts(t, south)
		sum := fittedSum(south)
		words := sum[len(sum)-1-prepare.MaxUnited:]
		at := 0
		for _, name := range f.Parties["south"].Preparation().Names() {
			word, is := strings.CutPrefix(name, "smoker_")
			if !is || word == "other" {
				continue
			}
			others := words[at] - count[word]
			at++
			if bait := word != "never" && word != "often" && word != "often enough"; bait && others != 0 || !bait && others < prepare.Least {
				t.Errorf("%s: south is told that others have %q %d times", parties, word, others)
			}
		}
		if at != prepare.MaxAgreed {
			t.Fatalf("%s: %d words are agreed", parties, at)
		}
		if hiv := sum[len(sum)-1-prepare.MaxUnited-3:][:2]; hiv[1] != 0 || hiv[0] != sum[0] {
			t.Errorf("%s: south is told that %d of %d people are listed with hiv", parties, hiv[1], sum[0])
		}
		if told := strings.Join(f.Parties["north"].Notices(), "\n"); !strings.Contains(told, `by column: "hiv" (`) || !strings.Contains(told, `, "smoker" (`) {
			t.Errorf("north's operator is told %q", told)
		}
	}
}

// counts counts the words of a party's own training rows, as they are prepared.
func counts(t *testing.T, p *party) map[string]int64 {
	t.Helper()
	count, row := make(map[string]int64), make([]float64, p.Width())
	for _, i := range p.Split.Rows(false) {
		p.Split.Set.X.Row(i, row)
		for c, name := range p.Split.Set.Columns {
			if word, is := strings.CutPrefix(name, "smoker_"); is && row[c] == 1 {
				count[word]++
			}
		}
	}
	return count
}
