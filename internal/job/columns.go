package job

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// OwnColumns are the names of the columns that a party uses.
type OwnColumns struct {
	Party string
	Names []string
}

// maxOwnColumns bounds the columns that a job names for a party.
const maxOwnColumns = 1 << 12

// Columns returns the names of the columns that a party uses, or nil for all that
// it has.
func (j *Job) Columns(party string) []string {
	for _, c := range j.Data.Partition.Columns {
		if c.Party == party {
			return c.Names
		}
	}
	return nil
}

// finishColumns checks that columns are of parties, and no features that are ids or
// labels.
func (d *Data) finishColumns(in *place) error {
	parties := (&Job{Data: *d}).Parties()
	for _, c := range d.Partition.Columns {
		switch {
		case parties != nil && !slices.Contains(parties, c.Party):
			return in.refuse("partition", "partition names columns of %q, who is no party of the job", c.Party)
		case d.ID != "" && slices.Contains(c.Names, d.ID):
			return in.refuse("partition", "partition names %s among the columns of %s; it holds the ids", quote(d.ID), c.Party)
		case d.Label != "" && slices.Contains(c.Names, d.Label):
			return in.refuse("partition", "partition names %s among the columns of %s; it holds the labels", quote(d.Label), c.Party)
		}
	}
	return nil
}

// ownColumns is a map from party to a list of columns that keeps the order of the
// file, because directions follow it.
type ownColumns struct{ dst *[]OwnColumns }

func (v ownColumns) decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return at(n, "%s is %s; write a map such as {guest: [age, income]}", key, describe(n))
	}
	var parties partyNames
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := parties.add(n.Content[i]); err != nil {
			return err
		}
		c := OwnColumns{Party: n.Content[i].Value}
		what := "the list of columns of " + c.Party
		if err := (words{&c.Names, maxOwnColumns, "[age, income]"}).decode(what, n.Content[i+1]); err != nil {
			return err
		}
		if len(c.Names) == 0 {
			return at(n.Content[i+1], "%s is empty; name one at least, or leave the party out for all", what)
		}
		*v.dst = append(*v.dst, c)
	}
	return nil
}

func (v ownColumns) encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, c := range *v.dst {
		m.Content = append(m.Content, textNode(c.Party), words{dst: &c.Names}.encode())
	}
	return m
}
