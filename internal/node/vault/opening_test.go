package vault

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/job"
)

// An item that is read in parts equals the written one, for lengths around a segment's.
func TestOpenReadsWhatWasWritten(t *testing.T) {
	e := onDisk(t, filepath.Join(t.TempDir(), "kept"), 1)
	id := job.ID{7}
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 3 << 16, 200_000} {
		want := bytes.Repeat([]byte("abcdefg\n"), n/8+1)[:n]
		if err := e.Put(id, Snapshot, want); err != nil {
			t.Fatal(err)
		}
		r, err := e.Open(id, Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read %d, %v", n, len(got), err)
		}
	}
}

// A file that was cut, lengthened or changed is not read as if it were whole.
func TestOpenNoticesDamage(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	e := onDisk(t, folder, 1)
	id := job.ID{7}
	if err := e.Put(id, Snapshot, make([]byte, 3<<16)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, id.String(), string(Snapshot))
	whole := disktest.Read(t, path)
	changed := bytes.Clone(whole)
	changed[len(changed)/2] ^= 1
	for name, b := range map[string][]byte{
		"changed": changed, "longer": append(bytes.Clone(whole), 0), "no head": whole[:20], "no segment": whole[:16+32],
		"shorter": whole[:len(whole)-1], "a segment less": whole[:16+32+2*(64<<10+16)], "empty": nil,
	} {
		disktest.Write(t, path, b)
		r, err := e.Open(id, Snapshot)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}

// An item that is not there is no error of the disk, before and after its removal.
func TestOpenOfNothing(t *testing.T) {
	e := onDisk(t, filepath.Join(t.TempDir(), "kept"), 1)
	id := job.ID{7}
	if _, err := e.Open(id, Snapshot); !errors.Is(err, ErrNoState) {
		t.Errorf("without a key: %v", err)
	}
	if err := e.Put(id, Snapshot, []byte("cells")); err != nil {
		t.Fatal(err)
	}
	if err := e.Remove(id, Snapshot); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Open(id, Snapshot); !errors.Is(err, ErrNoState) {
		t.Errorf("after its removal: %v", err)
	}
}
