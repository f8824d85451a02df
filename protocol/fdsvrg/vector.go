package fdsvrg

import "github.com/mercer-fl/mercer/protocol"

const wordBytes = 8

// layout cuts vectors into messages of at most that many words.
type layout int

func (l layout) pieces(words int) int { return max(1, (words-1)/int(l)+1) }

// span returns the words of a piece; hi is left out.
func (l layout) span(piece, words int) (lo, hi int) {
	return piece * int(l), min((piece+1)*int(l), words)
}

// mostWords is the number of words of the largest message.
const mostWords = protocol.MaxChunkBytes / wordBytes
