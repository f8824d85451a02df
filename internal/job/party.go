package job

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// reservedNames returns the names that a party must not have, because they have another meaning in
// headers, messages and errors.
func reservedNames() []string { return []string{"coordinator", "transport"} }

// partyNames collects the names of parties and refuses texts that cannot be names.
type partyNames []string

func (p *partyNames) add(n *yaml.Node) error {
	var name string
	if err := (section.DNSLabel{Dst: &name}).Decode("party name", n); err != nil {
		return err
	}
	switch {
	case slices.Contains(reservedNames(), name):
		return section.At(n, "party name %q is reserved; choose another", name)
	case slices.Contains(*p, name):
		return section.At(n, "two parties are called %q; give each its own name", name)
	case len(*p) == MaxParties:
		return section.At(n, "there are more than %d parties; name fewer", MaxParties)
	}
	*p = append(*p, name)
	return nil
}

func (p *partyNames) enough(n *yaml.Node) error {
	if len(*p) < 2 {
		return section.At(n, "a job needs at least two parties, but this list has %d; add parties", len(*p))
	}
	return nil
}

// enoughTables refuses an empty map of tables. For a map with a single table, it returns the
// refusal as single, for the protocols that need several parties.
func (p *partyNames) enoughTables(n *yaml.Node) (single, err error) {
	err = p.enough(n)
	if len(*p) == 1 {
		return err, nil
	}
	return nil, err
}

// partyList reads and writes a list of two or more party names.
type partyList struct{ dst *[]string }

func (v partyList) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return section.At(n, "%s is %s; write a list such as [north, south]", key, section.Describe(n))
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

func (v partyList) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	list := section.Flow()
	for _, s := range *v.dst {
		list.Content = append(list.Content, section.Word(s))
	}
	return list
}

func (v partyList) Form() string { return "a list such as [north, south]" }
