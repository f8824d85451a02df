package job

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// Limits on the size and nesting of a job file, and of the file of a dictionary or a study. The limits are far
// above the needs of any job.
const (
	MaxBytes = 1 << 20
	maxDepth = 16
)

// Error describes a mistake in a job file, or in the file of a dictionary or a study, in one sentence that
// tells the user what to do.
type Error = section.Error

// canonical writes a file in its canonical form.
func canonical(file *section.Section) []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(file.Encode()), e.Close()); err != nil {
		panic(fmt.Sprintf("job: %v", err)) // encoding scalars and maps into memory cannot fail
	}
	return b.Bytes()
}

// hexHash returns the SHA-256 of a file in hexadecimal digits.
func hexHash(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// IsHash reports whether a text is a SHA-256 in lower-case hexadecimal digits. Such a text is safe in a file
// name, although peers send it.
func IsHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// document parses a job file's bytes into its single YAML document. It refuses all constructs by
// which a small file could expand into a large document.
func document(data []byte) (*yaml.Node, error) {
	if len(data) > MaxBytes {
		return nil, section.AtLine(1, "the file has %d bytes; a job file has at most %d", len(data), MaxBytes)
	}
	if err := strictyaml.NotUTF8(data); err != nil { // UTF-16, too, which the YAML parser would accept
		return nil, ofYAML(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, section.AtLine(1, "the file is empty; start it with \"apiVersion: %s\"", APIVersion)
	case err != nil:
		return nil, ofYAML(strictyaml.SyntaxError(data, err))
	}
	switch err := d.Decode(&second); {
	case err == nil:
		return nil, section.At(&second, "a second document starts here; keep one job in a file")
	case !errors.Is(err, io.EOF):
		return nil, ofYAML(strictyaml.SyntaxError(data, err))
	}
	root := doc.Content[0]
	return root, refuseUnplain(root, 0)
}

// refuseUnplain refuses anchors, tags and nesting beyond maxDepth. Without anchors there are no
// aliases.
func refuseUnplain(n *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return section.At(n, "maps and lists are nested more than %d deep; nest them less", maxDepth)
	case n.Anchor != "":
		return section.At(n, "anchors such as &%s are not allowed; write the value where it is used", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		return section.At(n, "tags such as %s are not allowed; write the plain value", n.Tag)
	}
	for _, c := range n.Content {
		if err := refuseUnplain(c, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// ofYAML returns an error of package strictyaml as an error in the job file.
func ofYAML(e *strictyaml.Error) error { return section.AtLine(e.Line, "%s", e.Problem) }
