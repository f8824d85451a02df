package job

import (
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// LabelShare is the share of the labels that a party has.
type LabelShare struct {
	Party string
	Share float64
}

// labelShares is a map from party to share that keeps the order of the file.
type labelShares struct{ dst *[]LabelShare }

func (v labelShares) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return section.At(n, "%s is %s; write a map such as {guest: 0.6, host: 0.4}", key, section.Describe(n))
	}
	var parties partyNames
	sum := 0.0
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := parties.add(n.Content[i]); err != nil {
			return err
		}
		s := LabelShare{Party: n.Content[i].Value}
		if err := (section.Number{Dst: &s.Share}).Decode("the labels' share of "+s.Party, n.Content[i+1]); err != nil {
			return err
		}
		if !(s.Share > 0) {
			return section.At(n.Content[i+1], "the labels' share of %s is %g; write a number above 0", s.Party, s.Share)
		}
		sum += s.Share
		*v.dst = append(*v.dst, s)
	}
	if math.Abs(sum-1) > 1e-9 {
		return section.At(n, "the shares of %s add up to %g; let them add up to 1", key, sum)
	}
	return nil
}

func (v labelShares) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := section.Map()
	for _, s := range *v.dst {
		m.Content = append(m.Content, section.Word(s.Party), section.Number{Dst: &s.Share}.Encode())
	}
	return m
}

func (v labelShares) Form() string { return "a map such as {guest: 0.6, host: 0.4}" }
