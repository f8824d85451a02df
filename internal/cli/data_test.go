package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mercer-fl/mercer/internal/catalogue"
)

// dataCommands make files that a script cannot hold:
//
//	pictures FOLDER COUNT WIDTH HEIGHT GREY    PNG files 1.png, 2.png, ..., each of one grey, each brighter by 1
//	cut FROM TO BYTES                          the beginning of a file, or with a negative number all but the end
func dataCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"pictures": plain(5, func(ts *testscript.TestScript, args []string) {
			folder, grey := ts.MkAbs(args[0]), integer(ts, args[4])
			ts.Check(os.MkdirAll(folder, 0o755))
			for k := range integer(ts, args[1]) {
				m := image.NewGray(image.Rect(0, 0, integer(ts, args[2]), integer(ts, args[3])))
				for i := range m.Pix {
					m.Pix[i] = uint8(grey + k)
				}
				var b bytes.Buffer
				ts.Check(png.Encode(&b, m))
				ts.Check(os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.png", k+1)), b.Bytes(), 0o644))
			}
		}),
		"paste": plain(3, func(ts *testscript.TestScript, args []string) {
			job := pasted(ts.ReadFile(args[0]), ts.ReadFile(args[1]))
			ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(job), 0o644))
		}),
		"cut": plain(3, func(ts *testscript.TestScript, args []string) {
			b, err := os.ReadFile(ts.MkAbs(args[0]))
			ts.Check(err)
			n := integer(ts, args[2])
			if n < 0 {
				n += len(b)
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), b[:n], 0o644))
		}),
	}
}

func TestDataGet(t *testing.T) {
	publisher := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, "1 1:1\n"); err != nil {
			t.Error(err)
		}
	}))
	defer publisher.Close()
	sum := sha256.Sum256([]byte("1 1:1\n"))
	set := catalogue.Original{Name: "tiny", Licence: "none", Files: []catalogue.File{
		{Name: "tiny", URL: publisher.URL, Bytes: 6, SHA256: hex.EncodeToString(sum[:])},
	}}
	folder := t.TempDir()
	for _, how := range []string{"downloaded", "already there"} {
		r, err := getData(t.Context(), set, folder)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		want := filepath.Join(folder, "tiny", "tiny") + "  " + how + ", SHA-256 correct\nlicence: none\n"
		if err := r.Print(&b); err != nil || b.String() != want {
			t.Errorf("%q, %v; want %q", b.String(), err, want)
		}
	}
	set.Files[0].SHA256 = strings.Repeat("0", 64)
	_, err := getData(t.Context(), set, t.TempDir())
	if e := classify(err); err == nil || e.Code != codeBadData || e.Exit != Usage {
		t.Errorf("another file than expected: %v, %+v", err, e)
	}
}

// pasted puts the entry, and the name of the dictionary, of a suggestion into a job file. A job's
// sources name no id and label.
func pasted(job, suggested string) string {
	dictionary, entry, _ := strings.Cut(suggested, "\n\n")
	name := regexp.MustCompile(`metadata: \{name: ([a-z0-9-]+)\}`).FindStringSubmatch(dictionary)[1]
	_, entry, _ = strings.Cut(entry, ":\n") // behind the entry's name
	var own []string
	for _, line := range strings.Split(strings.TrimSpace(entry), "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(line, "#"))
		if !strings.HasPrefix(line, "id:") && !strings.HasPrefix(line, "label:") {
			own = append(own, line)
		}
	}
	job = strings.ReplaceAll(job, "ENTRY", strings.Join(own, "\n        "))
	return strings.ReplaceAll(job, "DICTIONARY", name)
}

func integer(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}
