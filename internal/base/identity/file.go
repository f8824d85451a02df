package identity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/base/disk"
)

// SeedSize is the length of a seed in bytes.
const SeedSize = 32

// Create derives an identity from a seed and writes the seed to path with mode
// 0600. It returns once the file would survive a power cut. An existing file is
// never overwritten.
func Create(path string, seed [SeedSize]byte) (*Identity, error) {
	id, err := FromSeed(seed)
	if err != nil {
		return nil, err
	}
	err = disk.Create(path, seed[:])
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("identity: %s exists already and is never overwritten; use it, or move it away first: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return id, nil
}

// Load reads the identity at path. It refuses a file that anybody but its
// owner may read or write.
func Load(path string) (*Identity, error) {
	seed, err := readSeed(path)
	if err != nil {
		return nil, fmt.Errorf("identity: %w", err)
	}
	return FromSeed(seed)
}

func readSeed(path string) (seed [SeedSize]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return seed, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := private(f); err != nil {
		return seed, err
	}
	b, err := io.ReadAll(io.LimitReader(f, SeedSize+1))
	switch {
	case err != nil:
		return seed, err
	case len(b) != SeedSize:
		return seed, fmt.Errorf("%s is not an identity file: it must hold exactly %d bytes", path, SeedSize)
	case [SeedSize]byte(b) == seed:
		// What some file systems leave of a file cut off by a crash.
		return seed, fmt.Errorf("%s holds only zeros; remove it and create the identity again", path)
	}
	return [SeedSize]byte(b), nil
}

// private refuses a file that others may read. It looks at the open file, not
// at the path, which could lead elsewhere by now.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file", f.Name())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others may use %s (its mode is %04o); if nobody has, run: chmod 600 %s", f.Name(), mode, f.Name())
	}
	return nil
}
