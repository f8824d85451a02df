//go:build !amd64

package linalg

func wordsOf(Path) words { return portableWords() }
