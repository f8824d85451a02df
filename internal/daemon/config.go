package daemon

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/party"
	"github.com/mercer-fl/mercer/internal/session"
)

// Config is a home's config.yaml.
type Config struct {
	Name string `yaml:"name"`
	// Listen is the coordinator's address for parties, host:port.
	Listen string `yaml:"listen,omitempty"`
	// Coordinator is the address that a party dials, nats://host:port.
	Coordinator string `yaml:"coordinator,omitempty"`
	// Data is a party's catalogue: the names that jobs may ask for.
	Data   map[string]Source `yaml:"data,omitempty"`
	Policy party.Policy      `yaml:"policy,omitempty"`
}

// Source is an entry of a party's catalogue.
type Source struct {
	Path  string `yaml:"path"` // relative to the home
	Label string `yaml:"label,omitempty"`
	ID    string `yaml:"id,omitempty"`
}

func (c *Config) save(path string) error {
	b, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.Replace(path, b)
}

// maxConfigBytes bounds what is read.
const maxConfigBytes = 1 << 20

func loadConfig(path string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, session.BadInput(fmt.Errorf("daemon: %w", err))
	}
	if info.Size() > maxConfigBytes {
		return nil, session.BadInput(fmt.Errorf("%s has %d bytes, at most %d are read", path, info.Size(), maxConfigBytes))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	c := &Config{}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil {
		return nil, session.BadInput(fmt.Errorf("%s: %w", path, err))
	}
	if c.Name == "" {
		return nil, session.BadInput(fmt.Errorf("%s: name is missing", path))
	}
	return c, nil
}

// source finds a catalogue entry; its path is absolute.
func (c *Config) source(h Home, name string) (Source, error) {
	s, ok := c.Data[name]
	if !ok {
		return Source{}, fmt.Errorf("the catalogue in %s has no data called %q", h.ConfigPath(), name)
	}
	if !filepath.IsAbs(s.Path) {
		s.Path = h.path(s.Path)
	}
	return s, nil
}
