package cells

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/sealed"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// These are the names of files in a folder.
const (
	inputsFile = "inputs"
	lockFile   = "lock"
	lockSuffix = ".lock"
	keySuffix  = ".key" // suffix of the name of the key file, which is beside the folder
	keyBytes   = 32
)

// maxResultBytes is the largest size of a result's file.
const maxResultBytes = 1 << 28

// Folder is a folder through which processes share work, with the key to its files.
type Folder struct {
	path  string
	key   []byte
	build string // the program's build and the processor's instructions
}

// header describes the inputs in a folder. The type of work determines the form of the inputs and of
// the results.
type header struct {
	work   string            // type of work
	digest [sha256.Size]byte // SHA-256 of the inputs after the header
	cells  int
}

const (
	inputsMagic = "mercer/cells/v1"
	maxCells    = 1 << 20
	headerBytes = 2 + len(inputsMagic) + 2 + maxWorkBytes + sha256.Size + 4 // size of an encoded header, with padding

	maxWorkBytes = 16
)

// check returns the folder's path with links resolved. It refuses a folder that other users can
// change.
func check(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cells: %w", err)
	}
	found, err := trusted.Folder(whole)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.BadInputf("cells: there is no folder %s; create it with mode 0700", path)
	}
	if err != nil {
		return "", fault.BadInputf("cells: the folder %s is refused: %w", path, err)
	}
	return found, nil
}

// open opens a folder that a coordinator has filled.
func open(path, build string) (*Folder, error) {
	found, err := check(path)
	if err != nil {
		return nil, err
	}
	key, err := readKey(found + keySuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoWork(found)
	}
	if err != nil {
		return nil, err
	}
	return &Folder{found, key, build}, nil
}

// errNoWork is the error for a folder in which no coordinator waits for results.
func errNoWork(path string) error {
	return fault.BadInputf("cells: the folder %s has no inputs; a coordinator writes them when a job reaches its grid, and removes them when it stops waiting", path)
}

// create opens a folder for a coordinator, and makes its key if there is none.
func create(path, build string) (*Folder, error) {
	found, err := check(path)
	if err != nil {
		return nil, err
	}
	name := found + keySuffix
	key, err := readKey(name)
	if errors.Is(err, fs.ErrNotExist) {
		key = make([]byte, keyBytes)
		if _, err := rand.Read(key); err != nil {
			return nil, fmt.Errorf("cells: %w", err)
		}
		err = disk.Create(name, key)
	}
	if err != nil {
		return nil, err
	}
	return &Folder{found, key, build}, nil
}

// readKey reads a key file. It refuses a file that other users can read or change.
func readKey(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	if _, err := trusted.Find(name); err != nil {
		return nil, fault.BadInputf("cells: the key file %s is refused: %w", name, err)
	}
	switch {
	case !info.Mode().IsRegular() || info.Size() != keyBytes:
		return nil, fault.BadInputf("cells: %s is not a key file of %d bytes; remove it, and a coordinator makes a new one", name, keyBytes)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fault.BadInputf("cells: other users can read the key file %s; use chmod 600 %s", name, name)
	}
	key, err := os.ReadFile(name)
	if err == nil && len(key) != keyBytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	return key, nil
}

func (f *Folder) file(name string) string { return filepath.Join(f.path, name) }

// name returns the name of a cell's result.
func (f *Folder) name(h header, cell int) string {
	var w wire.Writer
	w.String("mercer/cells/v1/name")
	w.String(h.work)
	w.Fixed(h.digest[:])
	w.Uint32(uint32(cell))
	w.String(f.build)
	mac := hmac.New(sha256.New, f.key)
	mac.Write(w.Bytes())
	return hex.EncodeToString(mac.Sum(nil))
}

// names returns the names of all cells' results.
func (f *Folder) names(h header) []string {
	names := make([]string, h.cells)
	for i := range names {
		names[i] = f.name(h, i)
	}
	return names
}

// list returns the names of the files in the folder.
func (f *Folder) list() (map[string]bool, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names, nil
}

// isName reports whether a text has the form of a result's name.
func isName(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == sha256.Size && strings.ToLower(text) == text
}

// lockWork takes the coordinator's lock on the folder.
func (f *Folder) lockWork() (*os.File, error) {
	lock, err := disk.Lock(f.file(lockFile))
	if errors.Is(err, disk.ErrLocked) {
		return nil, fault.BadInputf("cells: another coordinator uses the folder %s; give each coordinator a folder of its own", f.path)
	}
	return lock, err
}

// publish writes inputs. The function write must write the same bytes each time; the header's
// digest is their SHA-256. If the folder already has these inputs, publish changes nothing.
func (f *Folder) publish(work string, cells int, write func(io.Writer) error) (header, error) {
	h := header{work: work, cells: cells}
	sum := sha256.New()
	if err := write(sum); err != nil {
		return h, err
	}
	sum.Sum(h.digest[:0])
	if in, err := f.inputs(); err == nil {
		same := in.header == h
		if in.close(); same {
			return h, nil
		}
	}
	err := disk.ReplaceBy(f.file(inputsFile), func(to io.Writer) error {
		w, err := sealed.NewWriter(to, f.key, inputsMagic)
		if err != nil {
			return err
		}
		_, err = w.Write(h.encode())
		return errors.Join(err, write(w), w.Close())
	})
	return h, err
}

func (h header) encode() []byte {
	var w wire.Writer
	w.String(inputsMagic)
	w.String(h.work)
	w.Fixed(h.digest[:])
	w.Uint32(uint32(h.cells))
	return append(w.Bytes(), make([]byte, headerBytes-len(w.Bytes()))...)
}

func decodeHeader(b []byte) (h header, err error) {
	r := wire.NewReader(b)
	r.Magic(len(inputsMagic), inputsMagic, "the inputs have the format %q, which this program cannot read")
	h.work = r.String(maxWorkBytes)
	r.Fixed(h.digest[:])
	if h.cells = int(r.Uint32()); r.Err() == nil && (h.cells < 1 || h.cells > maxCells) {
		r.Fail(fmt.Errorf("the inputs have %d cells; 1 to %d are allowed", h.cells, maxCells))
	}
	return h, r.Err()
}

// inputs holds the header of the inputs in a folder, and reads the bytes after the header.
type inputs struct {
	header
	size int64 // size of the sealed file
	*bufio.Reader
	close func()
}

func (f *Folder) inputs() (*inputs, error) {
	name := f.file(inputsFile)
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoWork(f.path)
	}
	if err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	in, err := openInputs(file, f.key)
	if err != nil {
		return nil, errors.Join(fault.BadInputf("cells: %s: %w", name, err), file.Close())
	}
	return in, nil
}

func openInputs(file *os.File, key []byte) (*inputs, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	plain, err := sealed.NewReader(file, key, inputsMagic)
	if err != nil {
		return nil, err
	}
	in, err := readHeader(plain, info.Size())
	if err != nil {
		return nil, err
	}
	in.close = func() {
		plain.Clear()
		_ = file.Close() // read only
	}
	return in, nil
}

// readHeader reads the header of the inputs, whose sealed file has the given size.
func readHeader(plain io.Reader, size int64) (*inputs, error) {
	in := &inputs{size: size, Reader: bufio.NewReaderSize(plain, sealed.SegmentBytes)}
	head := make([]byte, headerBytes)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	var err error
	in.header, err = decodeHeader(head)
	return in, err
}

// put writes the result of a cell.
func (f *Folder) put(name string, result []byte) error {
	return disk.ReplaceBy(f.file(name), func(to io.Writer) error {
		w, err := sealed.NewWriter(to, f.key, resultInfo(name))
		if err != nil {
			return err
		}
		_, err = w.Write(result)
		return errors.Join(err, w.Close())
	})
}

func resultInfo(name string) string { return "mercer/cells/v1/result/" + name }

// get returns the result of a cell, or an error that wraps [fs.ErrNotExist] if there is none. It
// refuses a result that was not written under the folder's key and this name.
func (f *Folder) get(name string) ([]byte, error) {
	file, err := os.Open(f.file(name))
	if err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	defer file.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(file, maxResultBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	if len(b) > maxResultBytes {
		return nil, fmt.Errorf("cells: the result %s has more than %d bytes", file.Name(), maxResultBytes)
	}
	plain, err := sealed.Open(b, f.key, resultInfo(name))
	if err != nil {
		return nil, fmt.Errorf("cells: the result %s was not written under this folder's key: %w", file.Name(), err)
	}
	return plain, nil
}

// busy reports whether a process is computing a cell.
func (f *Folder) busy(name string) (bool, error) {
	if _, err := os.Lstat(f.file(name) + lockSuffix); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock, err := disk.Lock(f.file(name) + lockSuffix)
	if errors.Is(err, disk.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Close()
}

// withdraw removes the inputs, so that no further process begins a cell.
func (f *Folder) withdraw() error {
	if err := os.Remove(f.file(inputsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cells: %w", err)
	}
	return nil
}

// discard erases the key and removes the inputs, all results and the locks of cells. Copies of the inputs and
// results elsewhere stay sealed, because their key is gone.
func discard(path string) error {
	err := disk.Erase(path + keySuffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	entries, list := os.ReadDir(path)
	err = errors.Join(err, list)
	for _, e := range entries {
		name := e.Name()
		if name != inputsFile && !isName(strings.TrimSuffix(name, lockSuffix)) {
			continue
		}
		if rm := os.Remove(filepath.Join(path, name)); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}
	if err = errors.Join(err, disk.Sweep(path)); err != nil {
		return fmt.Errorf("cells: %w", err)
	}
	return nil
}
