package model_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/mercer-fl/mercer/model"
)

// written returns a file with a preparation before some bytes.
func written(t testing.TB, preparation []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	err := model.EncodePrepared(&b, preparation, func(w io.Writer) error {
		_, err := w.Write([]byte("the model"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPreparationBeforeAModel(t *testing.T) {
	for _, want := range [][]byte{nil, []byte("how rows are prepared")} {
		b := bufio.NewReader(bytes.NewReader(written(t, want)))
		got, err := model.CutPrepared(b)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is read as %q, %v", want, got, err)
		}
		if rest, err := io.ReadAll(b); err != nil || string(rest) != "the model" {
			t.Errorf("behind it stands %q, %v", rest, err)
		}
	}
}

func TestDamagedPreparationIsRefused(t *testing.T) {
	whole := written(t, []byte("how rows are prepared"))
	flipped := bytes.Clone(whole)
	flipped[15] ^= 1
	long := bytes.Clone(whole)
	long[11] = 0xff
	for name, b := range map[string][]byte{"cut": whole[:20], "flipped": flipped, "too long": long} {
		if _, err := model.CutPrepared(bufio.NewReader(bytes.NewReader(b))); !errors.Is(err, model.ErrFormat) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
