package cli

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
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

func integer(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}
