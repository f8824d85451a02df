package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// publisher serves a file in several states; "other" has the right length.
func publisher(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := csvText
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/good", http.StatusFound)
			return
		case "/gone":
			http.NotFound(w, r)
			return
		case "/other":
			body = strings.Replace(csvText, "30", "31", 1)
		case "/short":
			body = csvText[:10]
		case "/cut":
			w.Header().Set("Content-Length", fmt.Sprint(len(csvText)))
			body = csvText[:10]
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return // the reader has had enough
				}
			}
			return
		}
		if _, err := w.Write([]byte(body)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func fileAt(url string) File {
	sum := sha256.Sum256([]byte(csvText))
	return File{"customers.csv", url, int64(len(csvText)), hex.EncodeToString(sum[:])}
}

func TestFetch(t *testing.T) {
	s := publisher(t)
	folder := filepath.Join(t.TempDir(), "data", "shop")
	for _, at := range []string{"/good", "/moved"} {
		path, fresh, err := fileAt(s.URL+at).Fetch(t.Context(), s.Client(), folder)
		if err != nil || !fresh {
			t.Fatalf("%s: fresh %t, %v", at, fresh, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != csvText {
			t.Errorf("%s: %q, %v", at, b, err)
		}
		// Nobody is asked for what is there.
		if _, fresh, err := fileAt("http://127.0.0.1:0").Fetch(t.Context(), s.Client(), folder); err != nil || fresh {
			t.Errorf("again: fresh %t, %v", fresh, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFetchKeepsNothingElse(t *testing.T) {
	s := publisher(t)
	for at, want := range map[string]string{
		"/gone":    " answered 404 Not Found; try again later, or download the file another way",
		"/other":   " serves a file that differs from the expected one and was discarded; get the data from elsewhere and compare its SHA-256",
		"/short":   " serves a file that differs from the expected one",
		"/endless": " serves a file that differs from the expected one",
		"/cut":     " ended early: unexpected EOF; try again",
	} {
		folder := filepath.Join(t.TempDir(), "shop")
		_, _, err := fileAt(s.URL+at).Fetch(t.Context(), s.Client(), folder)
		if err == nil || !strings.Contains(err.Error(), s.URL+at+want) {
			t.Errorf("%s: error %v, want %q", at, err, want)
		}
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something is left: %v", at, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := fileAt(s.URL+"/good").Fetch(ctx, s.Client(), t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("a fetch that is given up: %v", err)
	}
	s.Close()
	if _, _, err := fileAt(s.URL+"/good").Fetch(t.Context(), s.Client(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "check the connection") {
		t.Errorf("nobody there: %v", err)
	}
}

func TestFetchLeavesOtherFilesAlone(t *testing.T) {
	s := publisher(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "customers.csv")
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := fileAt(s.URL+"/good").Fetch(t.Context(), s.Client(), folder)
	if want := path + " already exists and differs from the file at " + s.URL + "/good; move it away"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("it is now %q, %v", b, err)
	}
}

// TestOriginalsAreThoseOfTheDataFolder compares the table with the files, where
// they are.
func TestOriginalsAreThoseOfTheDataFolder(t *testing.T) {
	folder := os.Getenv(Variable)
	if folder == "" {
		folder = filepath.Join("..", "..", filepath.FromSlash(siblingFolder))
	}
	for _, o := range Originals() {
		for _, f := range o.Files {
			b, err := os.ReadFile(filepath.Join(folder, o.Name, f.Name))
			switch {
			case err == nil && !f.matches(b):
				t.Errorf("%s/%s has another length or SHA-256 than the table", o.Name, f.Name)
			case err != nil && os.Getenv("MERCER_REQUIRE_DATA") == "1":
				t.Error(err)
			case err != nil:
				t.Skipf("no data folder; set %s", Variable)
			}
		}
	}
}

func TestLookupOriginal(t *testing.T) {
	if o, err := LookupOriginal("a9a"); err != nil || len(o.Files) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
	_, err := LookupOriginal("a9b")
	if want := `a9b cannot be fetched; choose one of a9a, ml-100k (did you mean "a9a"?)`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
