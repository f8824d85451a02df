package catalogue

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in place of the labels or the images is refused at once: nobody writes into it.
func TestPipeInPlaceOfIDX(t *testing.T) {
	folder := t.TempDir()
	images, labels := filepath.Join(folder, "a-images-idx3-ubyte"), filepath.Join(folder, "a-labels-idx1-ubyte")
	if err := os.WriteFile(images, []byte(idxPictures), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(labels, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(folder).Load(images, Columns{}); err == nil || err.Error() != labels+" is a named pipe, not a file; give the path of a file" {
		t.Errorf("labels: %v", err)
	}
	if err := os.Remove(images); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(images, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(folder).Load(images, Columns{}); err == nil || !strings.HasPrefix(err.Error(), images+" is ") {
		t.Errorf("images: %v", err)
	}
}
