package fdskl

import (
	"fmt"
	"math"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// equal is a worker whose rows are all the same.
type equal struct{ ring ring }

func (e equal) Block(dst []byte, rows []int, first, count int) {
	for i := range len(rows) * count {
		e.ring.put(dst, i, 1<<(e.ring-1)+3)
	}
}

// Every byte of every word on the wire is as often each of its values as chance
// has it, whatever the inputs; so is every difference of two words of one row.
// Chi-square on 256 cells, at six deviations.
func TestWordsAreUniform(t *testing.T) {
	for _, mode := range []Mode{Hardened, Paper} {
		for _, bits := range []int{8, 16, 32} {
			t.Run(fmt.Sprintf("%s/%d", mode, bits), func(t *testing.T) {
				s := Spec{Mode: mode, Bits: bits, Rows: 4096, Directions: 8}
				same := make([]Source, 5)
				for i := range same {
					same[i] = equal{ring(bits)}
				}
				odd := s
				odd.Rows, odd.Directions = 1024, 5
				uneven := joined(t, odd, same)
				uneven.chunk = 5 * bits / 8 // no multiple of the eight bytes that are masked at once
				for name, f := range map[string]*federation{"random": newFederation(t, s, 5), "equal": joined(t, s, same), "in uneven chunks": uneven} {
					sent := wordsOf(t, f)
					if want := 4 * len(f.params.trees(5)); len(sent) != want {
						t.Fatalf("words go over %d edges, want %d", len(sent), want)
					}
					for edge, words := range sent {
						checkUniform(t, name+" "+edge, words, f.params.ring())
					}
				}
			})
		}
	}
}

// The test finds words that are not uniform: words of equal rows, unmasked.
func TestUniformityCanFail(t *testing.T) {
	words := make([]byte, 1<<15)
	equal{16}.Block(words, numbers(0, 1<<14), 0, 1)
	if chi := chiSquare(words, 0, 2); math.Abs(chi-255) < 6*math.Sqrt(510) {
		t.Errorf("chi-square %.0f of words that are all the same", chi)
	}
}

// wordsOf runs a session and returns all words that went over each edge.
func wordsOf(t *testing.T, f *federation) map[string][]byte {
	t.Helper()
	sent := make(map[string][]byte)
	_, r := f.run(t, f.table, func(m protocol.Message) []protocol.Message {
		if m.Kind == "Phases" || m.Kind == "Masks" {
			edge := fmt.Sprintf("%s of %s to %s", m.Kind, m.Sender, m.Receiver)
			sent[edge] = append(sent[edge], m.Body...)
		}
		return []protocol.Message{m}
	})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return sent
}

func checkUniform(t *testing.T, what string, words []byte, r ring) {
	t.Helper()
	differences := append([]byte(nil), words[r.bytes():]...)
	r.sub(differences, words[:len(differences)])
	for place := range r.bytes() {
		for name, list := range map[string][]byte{"words": words, "differences": differences} {
			if chi := chiSquare(list, place, r.bytes()); math.Abs(chi-255) > 6*math.Sqrt(510) {
				t.Errorf("%s: chi-square %.0f of byte %d of the %s, on 255 degrees of freedom", what, chi, place, name)
			}
		}
	}
}

// chiSquare counts every step-th byte from first on.
func chiSquare(b []byte, first, step int) float64 {
	var count [256]float64
	n := 0.0
	for i := first; i < len(b); i += step {
		count[b[i]]++
		n++
	}
	chi := 0.0
	for _, c := range count {
		chi += (c - n/256) * (c - n/256) / (n / 256)
	}
	return chi
}
