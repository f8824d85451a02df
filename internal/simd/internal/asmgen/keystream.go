package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// These constants describe AES-256 (FIPS 197) in counter mode. The cipher adds a first key of 16
// bytes and then has 14 rounds, each with a key of 16 bytes. All 15 keys are consecutive.
const (
	aesRounds = 14
	aesBlock  = 16
	// aesRegisters is the number of registers that are encrypted together. Each holds four blocks.
	// This hides the latency of a round.
	aesRegisters = 4
)

// writeKeystream writes the functions that compute the keystream of counter mode.
func writeKeystream() {
	expandKey()
	fillCounters()
}

// expandKey writes the function that computes the round keys of a key (FIPS 197, 5.2).
func expandKey() {
	begin("expandKey256", "func(keys *[240]byte, key *[32]byte)",
		"expandKey256 sets keys to the round keys of AES-256.")
	keys, key := integer("keys"), integer("key")
	halves := [2]VecVirtual{XMM(), XMM()}
	for i, half := range halves {
		VMOVDQU(Mem{Base: key, Disp: aesBlock * i}, half)
		VMOVDQU(half, Mem{Base: keys, Disp: aesBlock * i})
	}
	for round := 2; round <= aesRounds; round++ {
		// Every second key rotates the last word and adds a constant.
		constant, word := 1<<(round/2-1), uint8(0xff)
		if round%2 == 1 {
			constant, word = 0, 0xaa
		}
		half := halves[round%2]
		change, shifted := XMM(), XMM()
		VAESKEYGENASSIST(U8(constant), halves[1-round%2], change)
		VPSHUFD(U8(word), change, change)
		VMOVDQA(half, shifted)
		for range 3 {
			VPSLLDQ(U8(4), shifted, shifted)
			VPXOR(shifted, half, half)
		}
		VPXOR(change, half, half)
		VMOVDQU(half, Mem{Base: keys, Disp: aesBlock * round})
	}
	RET()
}

// fillCounters writes the function that encrypts consecutive counters.
func fillCounters() {
	const bytes = 4 * aesBlock * aesRegisters
	begin("fillCounters", "func(n int, to []byte, keys *[240]byte, counter uint64)",
		fmt.Sprintf("fillCounters writes n times %d bytes, the encryption of consecutive counters that begin with counter.", bytes),
		"The counters do not pass 2^64, and n is positive.")
	left, to, keys := integer("n"), slice("to"), integer("keys")
	counter, step := everywhere(integer("counter")), counters("counterStep", func(int) uint64 { return 4 })
	low, reverse := ZMM(), ZMM()
	VMOVDQU64(counters("counterPart", func(int) uint64 { return 1<<64 - 1 }), low)
	VPANDQ(low, counter, counter)
	VPADDQ(counters("counterFirst", func(block int) uint64 { return uint64(block) }), counter, counter)
	VMOVDQU64(bigEndian(), reverse)
	Label("turn")
	var blocks [aesRegisters]VecVirtual
	for i := range blocks {
		blocks[i] = ZMM()
		VPSHUFB(reverse, counter, blocks[i])
		VPADDQ(step, counter, counter)
	}
	for round := range aesRounds + 1 {
		key := ZMM()
		VBROADCASTI32X4(Mem{Base: keys, Disp: aesBlock * round}, key)
		for _, b := range blocks {
			switch round {
			case 0:
				VPXORQ(key, b, b)
			case aesRounds:
				VAESENCLAST(key, b, b)
			default:
				VAESENC(key, b, b)
			}
		}
	}
	for i, b := range blocks {
		VMOVDQU64(b, Mem{Base: to, Disp: 64 * i})
	}
	ADDQ(U32(bytes), to)
	DECQ(left)
	JNZ(LabelRef("turn"))
	writeReturn()
}

func everywhere(word Register) VecVirtual {
	all := ZMM()
	VPBROADCASTQ(word, all)
	return all
}

// counters writes a data block of four cipher blocks. The upper half of each cipher block holds the
// given word.
func counters(name string, word func(block int) uint64) Mem {
	at := GLOBL(name, RODATA|NOPTR)
	for block := range 4 {
		DATA(aesBlock*block, U64(0))
		DATA(aesBlock*block+8, U64(word(block)))
	}
	return at
}

// bigEndian writes a shuffle mask that reverses the upper eight bytes of each cipher block. The
// lower half becomes zero.
func bigEndian() Mem {
	at := GLOBL("counterBytes", RODATA|NOPTR)
	for block := range 4 {
		DATA(aesBlock*block, U64(0x8080808080808080))
		DATA(aesBlock*block+8, U64(0x08090a0b0c0d0e0f))
	}
	return at
}
