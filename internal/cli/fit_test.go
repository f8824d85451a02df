package cli

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// mercer fit --stdio answers a frame with a frame, as mercer-fit does, and ends with its stdin.
func TestFitAnswersFrames(t *testing.T) {
	stdin, parent := io.Pipe()
	child, stdout := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Main(nil, nil, []string{"fit", "--stdio"}, stdin, stdout, io.Discard, func(string) string { return "" })
	}()
	header := `{"op":"weigh","arrays":[]}`
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header...)
	if _, err := parent.Write(frame); err != nil {
		t.Fatal(err)
	}
	var length [4]byte
	if _, err := io.ReadFull(child, length[:]); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, binary.LittleEndian.Uint32(length[:]))
	if _, err := io.ReadFull(child, answer); err != nil {
		t.Fatal(err)
	}
	if want := `there is no operation \"weigh\"`; !strings.Contains(string(answer), want) {
		t.Errorf("the answer is %s, want %s in it", answer, want)
	}
	if err := parent.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestFitAsksForStdio(t *testing.T) {
	var errs bytes.Buffer
	code := Main(nil, nil, []string{"fit"}, strings.NewReader(""), io.Discard, &errs, func(string) string { return "" })
	if want := "mercer: --stdio is missing for fit; give it, since fit only answers the requests of a program on stdin\n"; code != 2 || errs.String() != want {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}
