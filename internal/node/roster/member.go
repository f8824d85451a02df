package roster

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// A member file goes from a process to the person who puts the roster together. It holds
// the process's name, its role and its public keys.
type memberDocument struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Member     entry  `yaml:"member"`
}

const memberKind = "Member"

// MarshalMember validates m and returns it as YAML.
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
		return Member{}, fmt.Errorf("%w (in %s)", err, path)
	}
	return m, nil
}

// ParseMember reads and validates what MarshalMember wrote.
func ParseMember(b []byte) (Member, error) {
	var d memberDocument
	if err := decode(b, &d); err != nil {
		return Member{}, err
	}
	if d.APIVersion != apiVersion || d.Kind != memberKind {
		return Member{}, fmt.Errorf("roster: apiVersion %q and kind %q, want %q and %q", d.APIVersion, d.Kind, apiVersion, memberKind)
	}
	e := d.Member
	m := Member{e.Name, e.Role, e.public()}
	if err := m.validate(); err != nil {
		return Member{}, fmt.Errorf("roster: %w", err)
	}
	return m, nil
}
