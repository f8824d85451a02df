package linalg

//go:generate go -C internal/asmgen run . -out ../../words_amd64.s -stubs ../../words_amd64.go -pkg linalg words

func wordsOf(p Path) words {
	switch p {
	case AVX512:
		return words{32, addWordsAVX512, subtractWordsAVX512}
	case AVX2:
		return words{16, addWordsAVX2, subtractWordsAVX2}
	}
	return portableWords()
}
