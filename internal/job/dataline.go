package job

import "go.yaml.in/yaml/v3"

// DataLine is the line, from 1, at which the data section of a job file first gives
// a text as a value: the name of a source or of a column. It is 0 where the section,
// or the text in it, is not there.
func DataLine(file []byte, text string) int {
	root, err := document(file)
	if err != nil {
		return 0 // no job was read from it
	}
	return mention(under(under(root, "spec"), "data"), text)
}

// DataKey reports whether the data section of a job file has a key: a job that was read has
// the defaults of those that it lacks.
func DataKey(file []byte, key string) bool {
	root, err := document(file)
	return err == nil && under(under(under(root, "spec"), "data"), key) != nil
}

// under returns the value that a map holds under a key, or nil.
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

// mention finds a text among the values, not the keys, of a node.
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
