package job

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// reserved names mean somebody else in headers, messages and errors.
func reserved() []string { return []string{"coordinator", "transport"} }

// partyNames collects the names of parties and refuses what cannot be one.
type partyNames []string

func (p *partyNames) add(n *yaml.Node) error {
	var name string
	if err := (dnsLabel{&name}).decode("party name", n); err != nil {
		return err
	}
	switch {
	case slices.Contains(reserved(), name):
		return at(n, "party name %q is reserved; choose another", name)
	case slices.Contains(*p, name):
		return at(n, "two parties are called %q; give each its own name", name)
	case len(*p) == MaxParties:
		return at(n, "more than %d parties; that is the most a job may have", MaxParties)
	}
	*p = append(*p, name)
	return nil
}

func (p *partyNames) enough(n *yaml.Node) error {
	if len(*p) < 2 {
		return at(n, "a job needs at least two parties, and this names %d; add some", len(*p))
	}
	return nil
}

// partyList is a list of two or more party names.
type partyList struct{ dst *[]string }

func (v partyList) decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return at(n, "%s is %s; write a list such as [north, south]", key, describe(n))
	}
	var parties partyNames
	for _, c := range n.Content {
		if err := parties.add(c); err != nil {
			return err
		}
	}
	*v.dst = parties
	return parties.enough(n)
}

func (v partyList) encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range *v.dst {
		list.Content = append(list.Content, textNode(s))
	}
	return list
}
