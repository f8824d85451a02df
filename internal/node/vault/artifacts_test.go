package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/sealed"
	"github.com/mercer-fl/mercer/internal/job"
)

// A reader of the disk, or of a backup of it, without the identity finds nothing in clear, and cannot
// put one job's files in the place of another's.
func TestArtifactsAreSealed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	e, one, two := onDisk(t, folder, 1), job.ID{1}, job.ID{2}
	if err := errors.Join(e.Put(one, Predictor, encoder), e.Put(two, Predictor, []byte("other"))); err != nil {
		t.Fatal(err)
	}
	for n := 8; n <= len(encoder); n++ {
		if files := found(t, folder, encoder[n-8:n]); len(files) > 0 {
			t.Fatalf("%v hold %q", files, encoder[n-8:n])
		}
	}
	for _, file := range []string{keyFile, string(Predictor)} {
		if info, err := os.Stat(e.path(one, file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%s: mode %v, %v; want 0600", file, info.Mode(), err)
		}
	}
	if got, err := onDisk(t, folder, 1).Get(one, Predictor); err != nil || !bytes.Equal(got, encoder) {
		t.Fatalf("after a restart: %q, %v", got, err)
	}
	if got, err := onDisk(t, folder, 2).Get(one, Predictor); err == nil || errors.Is(err, ErrNoState) {
		t.Fatalf("another identity: %q, %v", got, err)
	}
	for _, file := range []string{keyFile, string(Predictor)} {
		good, other := disktest.Read(t, e.path(two, file)), disktest.Read(t, e.path(one, file))
		disktest.Write(t, e.path(two, file), other)
		if got, err := e.Get(two, Predictor); err == nil || errors.Is(err, ErrNoState) {
			t.Fatalf("one job's %s under another's name: %q, %v", file, got, err)
		}
		disktest.Write(t, e.path(two, file), good)
	}
	disktest.Write(t, e.path(two, string(Model)), disktest.Read(t, e.path(two, string(Predictor))))
	if got, err := e.Get(two, Model); err == nil || errors.Is(err, ErrNoState) {
		t.Fatalf("one item under another's name: %q, %v", got, err)
	}
}

// Files of all lengths around the bounds of segments come back, and no byte can be
// changed, nor the file be cut short at any segment or its segments exchanged.
func TestSealedFiles(t *testing.T) {
	e, id := onDisk(t, filepath.Join(t.TempDir(), "kept"), 1), job.ID{1}
	for _, size := range []int{0, 1, sealed.SegmentBytes - 1, sealed.SegmentBytes, sealed.SegmentBytes + 1, 3*sealed.SegmentBytes + 5} {
		secret := bytes.Repeat([]byte{7}, size)
		err := e.Write(id, Model, func(w io.Writer) error { // in pieces that fit no segment
			for piece := range slices.Chunk(secret, 1000) {
				if _, err := w.Write(piece); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Get(id, Model); err != nil || !bytes.Equal(got, secret) {
			t.Fatalf("%d bytes: %d bytes, %v", size, len(got), err)
		}
	}
	path := e.path(id, string(Model))
	file := disktest.Read(t, path)
	const head, segment = sealed.HeadBytes, sealed.SegmentBytes + sealed.TagBytes
	swapped := bytes.Clone(file)
	copy(swapped[head:], file[head+segment:head+2*segment])
	copy(swapped[head+segment:], file[head:head+segment])
	bad := map[string][]byte{"empty": nil, "exchanged segments": swapped, "longer": append(bytes.Clone(file), 0)}
	for n := 1; n <= 3; n++ {
		bad[fmt.Sprint("cut to segments ", n)] = file[:head+n*segment]
	}
	for i := 0; i < len(file); i += 997 {
		bad[fmt.Sprint("byte ", i)] = slices.Concat(file[:i], []byte{file[i] ^ 1}, file[i+1:])
	}
	for name, changed := range bad {
		disktest.Write(t, path, changed)
		if got, err := e.Get(id, Model); !errors.Is(err, sealed.ErrDamaged) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// An attacker who keeps every file that a job ever left, by a second link, a snapshot or
// the blocks of the drive, except the overwritten key, opens nothing after Erase, not
// even with the identity.
func TestEraseTakesTheKey(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	e, id := onDisk(t, folder, 1), job.ID{1}
	large := bytes.Repeat([]byte("rows of a party "), 200_000)
	if err := errors.Join(e.Put(id, Predictor, encoder), e.Put(id, Model, large), e.Put(id, Model, large)); err != nil {
		t.Fatal(err)
	}
	key := disktest.Read(t, e.path(id, keyFile))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Link(e.path(id, keyFile), link); err != nil {
		t.Fatal(err)
	}
	items, err := e.List(id)
	if err != nil {
		t.Fatal(err)
	}
	kept := make(map[Item][]byte)
	for _, item := range items {
		kept[item] = disktest.Read(t, e.path(id, string(item)))
	}
	if gone, err := e.Erase(id); err != nil || !slices.Equal(gone, items) || !slices.Equal(gone, []Item{Model, Predictor}) {
		t.Fatalf("erased %v, %v; there were %v", gone, err, items)
	}
	if left := found(t, folder, key[:32]); len(left) > 0 || bytes.Contains(disktest.Read(t, link), key[:32]) {
		t.Errorf("the key is still on the disk: %v", left)
	}
	if left, err := e.Jobs(); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
	if err := e.Put(id, Decisions, []byte("later")); err != nil { // the same job has another key now
		t.Fatal(err)
	}
	for item, file := range kept {
		disktest.Write(t, e.path(id, string(item)), file)
		if got, err := e.Get(id, item); err == nil {
			t.Errorf("%s opens after it was erased: %d bytes", item, len(got))
		}
	}
	if gone, err := e.Erase(job.ID{9}); err != nil || len(gone) > 0 {
		t.Errorf("a job that left nothing: %v, %v", gone, err)
	}
}

// A kill in the middle of a write or of an erasure leaves halves and orphans, which
// the next start removes.
func TestOpenArtifactsSweeps(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	e, one, two := onDisk(t, folder, 1), job.ID{1}, job.ID{2}
	if err := errors.Join(e.Put(one, Model, encoder), e.Put(two, Model, encoder)); err != nil {
		t.Fatal(err)
	}
	disktest.Write(t, e.path(one, ".new-77"), []byte("half a model"))
	if err := os.Remove(e.path(two, keyFile)); err != nil { // Erase begins so
		t.Fatal(err)
	}
	e = onDisk(t, folder, 1)
	if items, err := e.List(one); err != nil || !slices.Equal(items, []Item{Model}) {
		t.Errorf("%v, %v", items, err)
	}
	if left, err := e.Jobs(); err != nil || len(left) != 1 || left[0].Job != one {
		t.Errorf("%v, %v is left", left, err)
	}
}

// A folder that cannot be read is an error, not a secret that is not there; what
// cannot be written leaves what there was.
func TestArtifactsErrors(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	e, id := onDisk(t, folder, 1), job.ID{1}
	if err := e.Put(id, Model, encoder); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := e.Write(id, Model, func(w io.Writer) error { _, _ = w.Write([]byte("half")); return broken }); !errors.Is(err, broken) {
		t.Errorf("a writer that fails: %v", err)
	}
	if got, err := e.Get(id, Model); err != nil || !bytes.Equal(got, encoder) {
		t.Errorf("after it: %q, %v", got, err)
	}
	if err := os.MkdirAll(filepath.Join(e.path(id, string(Answers)), "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Get(id, Answers); err == nil || errors.Is(err, ErrNoState) {
		t.Errorf("Get: %q, %v", got, err)
	}
	if err := e.Put(id, Answers, encoder); err == nil {
		t.Error("Put: no error")
	}
	file := filepath.Join(folder, "file")
	disktest.Write(t, file, nil)
	if _, err := OpenArtifacts(filepath.Join(file, "kept"), key(t, 1)); err == nil {
		t.Error("a folder inside a file")
	}
}

// Items go one by one, and the others stay with their age: that of the first one.
func TestEraseItems(t *testing.T) {
	e, id := onDisk(t, filepath.Join(t.TempDir(), "kept"), 1), job.ID{1}
	if err := errors.Join(e.Put(id, Predictor, encoder), e.Put(id, Figures, encoder)); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(e.path(id, keyFile), then, then); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]Item{{Figures}, nil} {
		if gone, err := e.EraseItems(id, Notices, Figures); err != nil || !slices.Equal(gone, want) {
			t.Errorf("%v, %v", gone, err)
		}
	}
	if got, err := e.Get(id, Predictor); err != nil || !bytes.Equal(got, encoder) {
		t.Errorf("%q, %v", got, err)
	}
	if list, err := e.Jobs(); err != nil || len(list) != 1 || list[0].Since.Sub(then).Abs() > time.Second {
		t.Errorf("%v, %v", list, err)
	}
}
