package job

import (
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// PartyShare holds a party's name and its share of a whole.
type PartyShare struct {
	Party string
	Share float64
}

// PartyShares reads and writes a map from party to share. It keeps the order of the file.
type PartyShares struct {
	Dst     *[]PartyShare
	Example string // example of a map, for messages
}

// Decode implements [section.Value].
func (v PartyShares) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return section.At(n, "%s is %s; write a map such as %s", key, section.Describe(n), v.Example)
	}
	var parties partyNames
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := parties.add(n.Content[i]); err != nil {
			return err
		}
		s := PartyShare{Party: n.Content[i].Value}
		if err := (section.Number{Dst: &s.Share}).Decode("the share of "+s.Party+" in "+key, n.Content[i+1]); err != nil {
			return err
		}
		if s.Share <= 0 || s.Share > 1 {
			return section.At(n.Content[i+1], "the share of %s in %s is %g; write a number above 0 and up to 1", s.Party, key, s.Share)
		}
		*v.Dst = append(*v.Dst, s)
	}
	return nil
}

// Encode implements [section.Value].
func (v PartyShares) Encode() *yaml.Node {
	if *v.Dst == nil {
		return nil
	}
	m := section.Map()
	for _, s := range *v.Dst {
		m.Content = append(m.Content, section.Word(s.Party), section.Number{Dst: &s.Share}.Encode())
	}
	return m
}

// Form implements [section.Value].
func (v PartyShares) Form() string { return "a map such as " + v.Example }
