package prg

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// The machine's fastest keystream equals the standard library's, from any block on, across
// every carry of the counter and to any address.
func TestKeystreamEqualsStandardLibrary(t *testing.T) {
	blocks := []uint64{
		0, 1, 255, 1<<16 - 9, 1<<32 - 3, 1<<32 - 16, 1<<40 | 7<<20, 1<<48 - 20, 1<<56 - 33,
		1<<63 - 1, 1<<63 - 40, 1<<63 - 64, 1<<63 + 5, 1<<64 - 17, 1<<64 - 1,
	}
	for k := range 20 {
		key := Derive([32]byte{byte(k)}, "keystream")
		want, got := keystream(newCounterMode(&key)), newKeystream(&key)
		for i, block := range blocks {
			want.seek(block)
			got.seek(block)
			for _, n := range []int{1, 3, 0, 2, 4, 17} { // one after the other
				from := (k + i) % 64 // not aligned
				a, b := make([]byte, n*atOnce), bytes.Repeat([]byte{0xa5}, from+n*atOnce+1)
				want.fill(a)
				got.fill(b[from : from+n*atOnce])
				if !bytes.Equal(a, b[from:from+n*atOnce]) || b[len(b)-1] != 0xa5 || from > 0 && b[from-1] != 0xa5 {
					t.Fatalf("key %d, %d bytes from block %d differ (%T)", k, n*atOnce, block, got)
				}
			}
		}
	}
}

// A stream that passes a counter of 2^32, 2^63 or 2^64 without a seek does not start again:
// no block is repeated.
func TestCounterCarries(t *testing.T) {
	for _, carry := range []uint64{1 << 32, 1 << 63, 0} {
		s := New([32]byte{9}, "carry")
		seen := make(map[string]uint64)
		for _, first := range []uint64{0, carry - 24} {
			s.Seek(first)
			for i, block := uint64(0), make([]byte, BlockBytes); i < 80; i++ {
				_, _ = s.Read(block) // never fails
				if at, twice := seen[string(block)]; twice {
					t.Fatalf("block %d past %d is block %d again", i, first, at)
				}
				seen[string(block)] = first + i
			}
		}
	}
}

// Streams do not depend on the instructions of the fast path: the tests that fix their
// bytes pass in a process that must not use them.
func TestStreamsWithoutWideInstructions(t *testing.T) {
	if !wide() {
		t.Skip("this machine has no wide AES instructions to do without")
	}
	if os.Getenv(narrow) != "" {
		t.Fatal("GODEBUG does not switch the instructions off")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^(TestGoldenVectors|TestCounterCarries|TestReadsAgree|TestStreamsWithoutWideInstructions)$", "-test.v")
	cmd.Env = append(os.Environ(), "GODEBUG=cpu.avx512vaes=off", narrow+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestGoldenVectors")) || !bytes.Contains(out, []byte("--- SKIP: TestStreamsWithoutWideInstructions")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// narrow is set where wide instructions are switched off.
const narrow = "MERCER_TEST_NARROW"

// wide reports whether streams use the machine's wide instructions.
func wide() bool {
	_, standard := newKeystream(new([32]byte)).(*counterMode)
	return !standard
}

func BenchmarkKeystream(b *testing.B) {
	key := Derive([32]byte{}, "keystream")
	for _, k := range []keystream{newCounterMode(&key), newKeystream(&key)} {
		b.Run(fmt.Sprintf("%T", k), func(b *testing.B) {
			at := make([]byte, 2*atOnce)
			b.SetBytes(int64(len(at)))
			for i := uint64(0); b.Loop(); i++ {
				k.seek(i << 20)
				k.fill(at)
			}
		})
	}
}
