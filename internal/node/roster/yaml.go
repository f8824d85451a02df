package roster

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/regular"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
)

const (
	apiVersion = "mercer/v1"
	kind       = "Roster"
	// maxFileBytes bounds a roster file. It is enough for MaxMembers members of about 1.8 kB.
	maxFileBytes = 16 << 20
)

type document struct {
	APIVersion string  `yaml:"apiVersion"`
	Kind       string  `yaml:"kind"`
	Federation string  `yaml:"federation"`
	Members    []entry `yaml:"members"`
}

type entry struct {
	Name string `yaml:"name"`
	Role Role   `yaml:"role"`
	Sign key    `yaml:"sign"`
	KEM  key    `yaml:"kem"`
	NKey string `yaml:"nkey"`
	TLS  key    `yaml:"tls,omitempty"` // the coordinator's TLS key

	Succession key `yaml:"signed_by_earlier_key,omitempty"` // signature of the member's earlier identity over these keys
}

func entryOf(m Member) entry {
	return entry{m.Name, m.Role, key(m.Sign), m.KEM, m.NKey, key(m.TLS), m.Succession}
}

func (e entry) member() Member {
	return Member{e.Name, e.Role, identity.Public{Sign: []byte(e.Sign), KEM: e.KEM, NKey: e.NKey, TLS: []byte(e.TLS)}, e.Succession}
}

// key is a public key or a signature. In YAML it is written in base64.
type key []byte

func (k key) MarshalYAML() (any, error) { return base64.StdEncoding.EncodeToString(k), nil }

func (k *key) UnmarshalYAML(n *yaml.Node) error {
	b, err := base64.StdEncoding.Strict().DecodeString(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: a key must be written in base64", n.Line)}}
	}
	*k = b
	return nil
}

// Load reads and validates the roster at path.
func Load(path string) (*Roster, error) {
	b, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	r, err := Parse(b)
	if err != nil {
		return nil, inFile(path, err)
	}
	return r, nil
}

func readFile(path string) (b []byte, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err = io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(b) > maxFileBytes {
		err = fmt.Errorf("the file %s is larger than the maximum of %d bytes", path, maxFileBytes)
	}
	return b, err
}

// inFile returns an error about a file's content with the file and the line.
func inFile(path string, err error) error {
	if problem := (*strictyaml.Error)(nil); errors.As(err, &problem) {
		return fmt.Errorf("%s:%d: %w", path, max(problem.Line, 1), problem)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Parse reads and validates one YAML document. Unknown keys are errors.
func Parse(b []byte) (*Roster, error) {
	var d document
	if err := decode(b, &d); err != nil {
		return nil, err
	}
	if d.APIVersion != apiVersion || d.Kind != kind {
		return nil, fmt.Errorf("roster: apiVersion is %q and kind is %q; they must be %q and %q", d.APIVersion, d.Kind, apiVersion, kind)
	}
	r := d.roster()
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

// decode decodes one YAML document. Its errors name the line, if they are about one.
func decode(b []byte, into any) error {
	err := strictyaml.Decode(b, into)
	var problem *strictyaml.Error
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("roster: the file is empty; take the file that mercer federation init or mercer federation roster wrote")
	case errors.As(err, &problem):
		return fmt.Errorf("roster: line %d: %w", max(problem.Line, 1), err)
	}
	return err
}

func (d *document) roster() *Roster {
	r := &Roster{Federation: d.Federation}
	for _, e := range d.Members {
		r.Members = append(r.Members, e.member())
	}
	return r
}

// Marshal validates r and encodes it as YAML.
func (r *Roster) Marshal() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	d := document{APIVersion: apiVersion, Kind: kind, Federation: r.Federation}
	for _, m := range r.Members {
		d.Members = append(d.Members, entryOf(m))
	}
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(d), enc.Close()); err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	return buf.Bytes(), nil
}

// Save validates r and writes it to path. After a crash the path has the old file or the new one.
func (r *Roster) Save(path string) error {
	b, err := r.Marshal()
	if err != nil {
		return err
	}
	if err := disk.Replace(path, b); err != nil {
		return fmt.Errorf("roster: %w", err)
	}
	return nil
}

// memberDocument is the content of a member file. A process writes this file for the person who
// makes the roster. The file has the name, the role and the public keys of the process.
type memberDocument struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Member     entry  `yaml:"member"`
}

const memberKind = "Member"

// MarshalMember validates m and encodes it as a member file in YAML.
func MarshalMember(m Member) ([]byte, error) {
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	b, err := yaml.Marshal(memberDocument{apiVersion, memberKind, entryOf(m)})
	if err != nil {
		return nil, fmt.Errorf("roster: %w", err)
	}
	return b, nil
}

// LoadMember reads and validates the member file at path.
func LoadMember(path string) (Member, error) {
	b, err := readFile(path)
	if err != nil {
		return Member{}, fmt.Errorf("roster: %w", err)
	}
	m, err := ParseMember(b)
	if err != nil {
		return Member{}, inFile(path, err)
	}
	return m, nil
}

// ParseMember decodes and validates the content of a member file.
func ParseMember(b []byte) (Member, error) {
	var d memberDocument
	if err := decode(b, &d); err != nil {
		return Member{}, err
	}
	if d.APIVersion != apiVersion || d.Kind != memberKind {
		return Member{}, fmt.Errorf("roster: apiVersion is %q and kind is %q; they must be %q and %q", d.APIVersion, d.Kind, apiVersion, memberKind)
	}
	m := d.Member.member()
	if err := m.validate(); err != nil {
		return Member{}, fmt.Errorf("roster: %w", err)
	}
	return m, nil
}
