package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codec is the number by which files name a compression method.
type codec int64

const (
	uncompressed codec = 0
	snappyCodec  codec = 1
	gzipCodec    codec = 2
	brotliCodec  codec = 4
	lz4Codec     codec = 5
	zstdCodec    codec = 6
	lz4RawCodec  codec = 7
)

var codecNames = [...]string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}

func (c codec) check() error {
	switch c {
	case uncompressed, snappyCodec, gzipCodec, brotliCodec, lz4Codec, zstdCodec, lz4RawCodec:
		return nil
	}
	name := fmt.Sprint(int64(c))
	if c > 0 && int(c) < len(codecNames) {
		name = codecNames[c]
	}
	return fmt.Errorf("is compressed by %s, which is not supported; write the file with snappy, gzip, brotli, zstd, lz4_raw or no compression", name)
}

// decompressor holds the decoders that are reused from page to page.
type decompressor struct {
	in     bytes.Reader
	gzip   gzip.Reader
	zstd   *zstd.Decoder
	window int // largest window of the zstd decoder, in bytes
	brotli *brotli.Reader
}

// decompress decompresses b into dst, which must be empty. The result must have n bytes.
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
	case brotliCodec:
		if err := d.resetBrotli(); err != nil {
			return undecoded(dst, err)
		}
		return undecoded(readExactly(dst, d.brotli, n))
	case lz4RawCodec:
		return undecoded(lz4Block(dst, b, n))
	case lz4Codec:
		return undecoded(lz4Hadoop(dst, b, n))
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

func (d *decompressor) resetBrotli() error {
	if d.brotli == nil {
		d.brotli = brotli.NewReader(&d.in)
		return nil
	}
	return d.brotli.Reset(&d.in)
}

// lz4Ratio is the most bytes that a byte of an LZ4 block can decompress to.
const lz4Ratio = 255

// lz4Block appends the n bytes of an LZ4 block to dst.
func lz4Block(dst, b []byte, n int) ([]byte, error) {
	if n/lz4Ratio > len(b) {
		return dst, io.ErrUnexpectedEOF
	}
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	got, err := lz4.UncompressBlock(b, dst[at:])
	if err == nil && got != n {
		err = io.ErrUnexpectedEOF
	}
	return dst, err
}

// lz4Hadoop decompresses a page of the old codec LZ4. Hadoop writes two lengths before each block.
// Other writers write a single block without lengths.
func lz4Hadoop(dst, b []byte, n int) ([]byte, error) {
	framed, rest := dst, b
	for len(rest) >= 8 && len(framed) < n {
		size, stored := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if rest = rest[8:]; int64(size) > int64(n-len(framed)) || int64(stored) > int64(len(rest)) {
			break
		}
		var err error
		if framed, err = lz4Block(framed, rest[:stored], int(size)); err != nil {
			break
		}
		rest = rest[stored:]
	}
	if len(rest) == 0 && len(framed) == n {
		return framed, nil
	}
	return lz4Block(dst, b, n)
}

// leastWindow is the window that every decoder of Zstandard must support, in bytes. Writers use no
// larger window for pages up to that length.
const leastWindow = 8 << 20

func (d *decompressor) resetZstd(n int) error {
	if d.zstd == nil || d.window < n {
		d.window = max(n, leastWindow)
		var err error
		// With a concurrency of 1, the decoder starts no goroutine.
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(d.window)))
		if err != nil {
			return err
		}
	}
	return d.zstd.Reset(&d.in)
}

// firstRead bounds the memory that is allocated before any bytes arrive, because a header can give a
// false length. Later allocations grow with the bytes that arrive.
const firstRead = 1 << 20

var errLength = errors.New("the page is longer than its header says")

// readExactly reads n bytes from r into dst, which must be empty. Then r must end.
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
	case errors.Is(err, io.EOF): // r has ended, and its checksum is right
		return dst, nil
	case err != nil:
		return dst, err
	}
	return dst, errLength
}
