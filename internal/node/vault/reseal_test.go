package vault

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/job"
)

// At each moment of a change of the identity the identity that the home has opens every item, and after
// Settle no other does. Retention still counts from the last artifact.
func TestChangeOfTheIdentity(t *testing.T) {
	for _, changed := range []bool{false, true} {
		folder := filepath.Join(t.TempDir(), "kept")
		e, one, two := onDisk(t, folder, 1), job.ID{1}, job.ID{2}
		if err := errors.Join(e.Put(one, Model, encoder), e.Put(two, Predictor, encoder), onDisk(t, folder, 9).Put(job.ID{3}, Model, encoder)); err != nil {
			t.Fatal(err)
		}
		long := time.Now().Add(-100 * time.Hour).Truncate(time.Second)
		if err := os.Chtimes(e.path(one, keyFile), long, long); err != nil {
			t.Fatal(err)
		}
		former := filepath.Join(t.TempDir(), "former")
		if err := os.Link(e.path(one, keyFile), former); err != nil {
			t.Fatal(err)
		}
		sealed := disktest.Read(t, former)
		opens := func(when string, identity byte, want bool) {
			t.Helper()
			got, err := ReadArtifacts(folder, key(t, identity)).Get(one, Model)
			if (err == nil && bytes.Equal(got, encoder)) != want {
				t.Errorf("%s: identity %d opens: %v, want %v", when, identity, err, want)
			}
		}
		next := key(t, 2)
		if n, foreign, err := e.SealNext(next.PublicKey()); n != 2 || foreign != 1 || err != nil {
			t.Fatalf("%d sealed, %d foreign, %v", n, foreign, err)
		}
		opens("between", 1, true)
		opens("between", 2, true)
		if items, err := e.List(one); err != nil || len(items) != 1 {
			t.Errorf("items %v, %v", items, err)
		}
		has, other := byte(1), byte(2)
		if changed {
			has, other = other, has
		}
		for range 2 { // a second crash
			if err := ReadArtifacts(folder, key(t, has)).Settle(); err != nil {
				t.Fatal(err)
			}
		}
		opens("after", has, true)
		opens("after", other, false)
		if changed == bytes.Equal(disktest.Read(t, former), sealed) {
			t.Errorf("changed %v: the blocks of the former key are as they should not be", changed)
		}
		if _, err := os.Stat(e.path(one, nextKeyFile)); err == nil {
			t.Error("the second key is still there")
		}
		jobs, err := e.Jobs()
		if err != nil || len(jobs) != 3 || !jobs[0].Since.Equal(long) {
			t.Errorf("%v, %v; want the first since %v", jobs, err, long)
		}
	}
}

// Erasing a job in the middle of a change leaves neither key.
func TestEraseInAChangeOfTheIdentity(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	e, one := onDisk(t, folder, 1), job.ID{1}
	if err := e.Put(one, Model, encoder); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.SealNext(key(t, 2).PublicKey()); err != nil {
		t.Fatal(err)
	}
	blocks := filepath.Join(t.TempDir(), "blocks")
	if err := os.Link(e.path(one, nextKeyFile), blocks); err != nil {
		t.Fatal(err)
	}
	sealed := disktest.Read(t, blocks)
	if gone, err := e.Erase(one); err != nil || len(gone) != 1 {
		t.Fatalf("%v, %v", gone, err)
	}
	if bytes.Equal(disktest.Read(t, blocks), sealed) {
		t.Error("the second key is still on the disk")
	}
}
