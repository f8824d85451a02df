package moments

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
)

// twoValued are tables with labels 0 and 1, of which east's has its first n rows. Of those from 280 on,
// number 290 alone has 1.
func twoValued(n int) map[string]string {
	tables := methodtest.Three(300)
	for name, text := range tables {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for i, row := range lines[1:] {
			label := i % 2
			switch {
			case name != "east" || i < 280:
			case i == 290:
				label = 1
			default:
				label = 0
			}
			lines[i+1] = fmt.Sprintf("%s,%d", row[:strings.LastIndexByte(row, ',')], label)
		}
		if name == "east" {
			lines = lines[:1+n]
		}
		tables[name] = strings.Join(lines, "\n") + "\n"
	}
	return tables
}

// Two jobs of ridge, or a job of ridge between two of a classifier, over tables of which ten people went,
// one of class 1 among those who trained: each party's ledger holds the last.
func TestAttackNumbersInPlaceOfClasses(t *testing.T) {
	play := func(fs ...*methodtest.Federation) (err error) {
		l := disclosuretest.NewLedgers(t, "east")
		for _, f := range fs {
			if err = l.Play(t, f, "count"); err != nil {
				return err
			}
		}
		return nil
	}
	classes := func(number byte, n int) *methodtest.Federation {
		return by(t, "moments", number, twoValued(n), "classes: [a, b]", `classes: ["0", "1"]`, "directions: 1024", "directions: 4")
	}
	numbers := func(number byte, n int) *methodtest.Federation {
		return by(t, "moments", number, twoValued(n), "classes: [a, b]", "targets: [0, 1]", "ridge-classifier", "ridge", "directions: 1024", "directions: 4")
	}
	for want, err := range map[string]error{
		"1 person is of one class and in": play(classes(1, 300), numbers(3, 300), classes(2, 280)),
		"1 person has another label than": play(numbers(1, 300), numbers(2, 280)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it held: %s", err, want)
		}
	}
}
