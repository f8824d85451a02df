package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// codec names the compression of pages.
type codec int64

const (
	uncompressed codec = 0
	snappyCodec  codec = 1
	gzipCodec    codec = 2
	zstdCodec    codec = 6
)

var codecNames = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

func (c codec) check() error {
	switch c {
	case uncompressed, snappyCodec, gzipCodec, zstdCodec:
		return nil
	}
	name := fmt.Sprint(int64(c))
	if c > 0 && int(c) < len(codecNames) {
		name = codecNames[c]
	}
	return fmt.Errorf("is compressed by %s, which is not supported; write the file with snappy, gzip, zstd or no compression", name)
}

// decompressor keeps what decoders need from page to page.
type decompressor struct {
	in     bytes.Reader
	gzip   gzip.Reader
	zstd   *zstd.Decoder
	window int // of zstd
}

// decompress appends to dst, which is empty, what b holds, which must be n bytes.
func (d *decompressor) decompress(c codec, dst, b []byte, n int) ([]byte, error) {
	switch d.in.Reset(b); c {
	case snappyCodec:
		if got, err := snappy.DecodedLen(b); err != nil || got != n {
			return dst, errPage
		}
		return undecoded(snappy.Decode(sized(dst, n), b))
	case gzipCodec:
		if err := d.gzip.Reset(&d.in); err != nil {
			return undecoded(dst, err)
		}
		return undecoded(readExactly(dst, &d.gzip, n))
	}
	if err := d.resetZstd(n); err != nil {
		return undecoded(dst, err)
	}
	return undecoded(readExactly(dst, d.zstd, n))
}

func undecoded(b []byte, err error) ([]byte, error) {
	if err != nil {
		return b, fmt.Errorf("holds a page that cannot be decompressed (%w); copy the file again", err)
	}
	return b, nil
}

// leastWindow is the window that every decoder of Zstandard must support, and more than
// writers use for pages that are no longer.
const leastWindow = 8 << 20

func (d *decompressor) resetZstd(n int) error {
	if d.zstd == nil || d.window < n {
		d.window = max(n, leastWindow)
		var err error
		// Concurrency of 1 starts no goroutine.
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(d.window)))
		if err != nil {
			return err
		}
	}
	return d.zstd.Reset(&d.in)
}

// firstRead bounds the memory that is allocated because of a header alone; later allocations grow
// with the bytes that arrive.
const firstRead = 1 << 20

var errLength = errors.New("its length is wrong")

// readExactly appends n bytes to dst, which is empty; they must be all that r has.
func readExactly(dst []byte, r io.Reader, n int) ([]byte, error) {
	for len(dst) < n {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, min(n-len(dst), max(len(dst), firstRead)))
		}
		got, err := io.ReadFull(r, dst[len(dst):min(n, cap(dst))])
		if dst = dst[:len(dst)+got]; err != nil {
			return dst, err
		}
	}
	var more [1]byte
	switch _, err := io.ReadFull(r, more[:]); {
	case errors.Is(err, io.EOF): // and the checksum is right
		return dst, nil
	case err != nil:
		return dst, err
	}
	return dst, errLength
}
