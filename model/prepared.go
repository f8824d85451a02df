package model

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// preparedMagic is the magic number of a file that holds a preparation, followed by a model. The
// model expects rows as the preparation makes them from a table.
const preparedMagic = "MERCERP1"

// maxPreparation limits a preparation, in bytes.
const maxPreparation = 1 << 26

// EncodePrepared writes a preparation to w and then calls encode, which writes a model. The
// preparation comes from package dataset/prepare. Without a preparation it writes only the model.
func EncodePrepared(w io.Writer, preparation []byte, encode func(io.Writer) error) error {
	if preparation == nil {
		return encode(w)
	}
	var head wire.Writer
	head.Fixed([]byte(preparedMagic))
	head.Bytes32(preparation)
	sum := sha256.Sum256(preparation)
	head.Fixed(sum[:])
	if _, err := w.Write(head.Bytes()); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	return encode(w)
}

// CutPrepared reads the preparation at the beginning of a file, and returns nil if the file has
// none. The rest of b is the model. A damaged preparation gives an error that wraps [ErrFormat].
func CutPrepared(b *bufio.Reader) ([]byte, error) {
	if head, _ := b.Peek(len(preparedMagic)); string(head) != preparedMagic { // Peek fails on a short file, which Open then reports
		return nil, nil
	}
	var head [len(preparedMagic) + 4]byte
	if _, err := io.ReadFull(b, head[:]); err != nil {
		return nil, errCut(err)
	}
	n := wire.NewReader(head[len(preparedMagic):]).Uint32()
	if n == 0 || n > maxPreparation {
		return nil, formatError("the preparation has %d bytes; 1 to %d are allowed", n, maxPreparation)
	}
	content := make([]byte, n)
	var sum [sha256.Size]byte
	if _, err := io.ReadFull(b, content); err != nil {
		return nil, errCut(err)
	}
	if _, err := io.ReadFull(b, sum[:]); err != nil {
		return nil, errCut(err)
	}
	if sha256.Sum256(content) != sum {
		return nil, formatError("the preparation is damaged; copy the file again")
	}
	return content, nil
}

// errCut returns the error for a file that ends too early or cannot be read.
func errCut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return formatError("the file ends within the preparation; copy the file again")
	}
	return fmt.Errorf("model: %w", err)
}
