package job

import "go.yaml.in/yaml/v3"

// DataLine returns the line, counted from 1, of the first value in a job file's data section that
// equals text, such as the name of a source or a column. It returns 0 if the section has no such
// value.
func DataLine(file []byte, text string) int {
	root, err := document(file)
	if err != nil {
		return 0 // the file is not valid YAML
	}
	return mention(under(under(root, "spec"), "data"), text)
}

// DataKey reports whether the data section of a job file contains a key. A parsed job does not show
// this, because it has defaults for missing keys.
func DataKey(file []byte, key string) bool {
	root, err := document(file)
	return err == nil && under(under(under(root, "spec"), "data"), key) != nil
}

// DataKeyLine returns the line, counted from 1, of a key in a job file's data section. The path
// is that key, or the keys of nested maps that lead to it. It returns 0 if the section has no such key.
func DataKeyLine(file []byte, path ...string) int { return keyLine(file, "data", path) }

// LearnerKeyLine returns the line, counted from 1, of a key in a job file's learner section. It returns 0 if
// the section has no such key.
func LearnerKeyLine(file []byte, key string) int { return keyLine(file, "learner", []string{key}) }

func keyLine(file []byte, section string, path []string) int {
	root, err := document(file)
	if err != nil {
		return 0
	}
	in, line := under(under(root, "spec"), section), 0
	for _, key := range path {
		at := -1
		if in != nil && in.Kind == yaml.MappingNode {
			at = valueOf(in, key)
		}
		if at < 0 {
			return 0
		}
		line, in = in.Content[at-1].Line, in.Content[at]
	}
	return line
}

// under returns the value of a key in a map, or nil.
func under(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// mention returns the line of the first value that equals text, or 0 if no value does. It does not
// compare keys.
func mention(n *yaml.Node, text string) int {
	switch {
	case n == nil:
		return 0
	case n.Kind == yaml.ScalarNode && n.Value == text:
		return n.Line
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue
		}
		if line := mention(c, text); line > 0 {
			return line
		}
	}
	return 0
}
