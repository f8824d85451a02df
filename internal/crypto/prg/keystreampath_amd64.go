package prg

import "golang.org/x/sys/cpu"

//go:generate go -C ../../simd/internal/asmgen run . -out ../../../crypto/prg/keystream_amd64.s -stubs ../../../crypto/prg/keystream_amd64.go -pkg prg keystream

// wideCounter is a keystream that encrypts sixteen counters at a time. It uses the machine's AES
// instructions, whose time does not depend on the key. From counter 2^63 on it uses the standard
// library, because a later counter can exceed a word.
type wideCounter struct {
	keys [240]byte    // round keys; the first 32 bytes are the key itself
	next uint64       // next counter
	far  *counterMode // set once next has reached farCounter
}

const farCounter = 1 << 63

// newKeystream returns the fastest keystream of this machine.
func newKeystream(key *[32]byte) keystream {
	if !cpu.X86.HasAVX512VAES || !cpu.X86.HasAVX512BW || !cpu.X86.HasAES {
		return newCounterMode(key)
	}
	w := new(wideCounter)
	expandKey256(&w.keys, key)
	return w
}

func (w *wideCounter) seek(block uint64) { w.next, w.far = block, nil }

func (w *wideCounter) fill(dst []byte) {
	if w.next >= farCounter {
		w.fillFar(dst)
		return
	}
	if n := len(dst) / atOnce; n > 0 {
		fillCounters(n, dst[:n*atOnce], &w.keys, w.next)
		w.next += uint64(n * atOnce / BlockBytes)
	}
}

func (w *wideCounter) fillFar(dst []byte) {
	if w.far == nil {
		w.far = newCounterMode((*[32]byte)(w.keys[:32]))
		w.far.seek(w.next)
	}
	w.far.fill(dst)
}
