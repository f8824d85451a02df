package job

import (
	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// OwnColumns holds a party's name and the names of the columns that it uses.
type OwnColumns struct {
	Party string
	Names []string
}

// maxOwnColumns is the greatest number of columns that a job names for a party.
const maxOwnColumns = 1 << 12

// Columns returns the names of the columns that a party uses in a partition by columns. It returns nil if
// neither the partition nor a schema names them; the party then uses all its columns.
func (j *Job) Columns(party string) []string {
	for _, c := range j.Data.Partition.Columns {
		if c.Party == party {
			return c.Names
		}
	}
	if j.Data.Schema == nil || j.Data.Partition.By != Columns {
		return nil
	}
	return j.Data.SchemaOf(party).Names()
}

// ownColumns reads and writes the map from party to a list of columns. It keeps the order of the
// file, because random directions depend on this order.
type ownColumns struct{ dst *[]OwnColumns }

func (v ownColumns) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return section.At(n, "%s is %s; write a map such as {guest: [age, income]}", key, section.Describe(n))
	}
	var parties partyNames
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := parties.add(n.Content[i]); err != nil {
			return err
		}
		c := OwnColumns{Party: n.Content[i].Value}
		what := "the list of columns of " + c.Party
		if err := (section.Words{Dst: &c.Names, Most: maxOwnColumns, Example: "[age, income]"}).Decode(what, n.Content[i+1]); err != nil {
			return err
		}
		if len(c.Names) == 0 {
			return section.At(n.Content[i+1], "%s is empty; name at least one column, or leave the party out to use all of its columns", what)
		}
		*v.dst = append(*v.dst, c)
	}
	return nil
}

func (v ownColumns) Encode() *yaml.Node {
	if *v.dst == nil {
		return nil
	}
	m := section.Map()
	for _, c := range *v.dst {
		m.Content = append(m.Content, section.Word(c.Party), section.Words{Dst: &c.Names}.Encode())
	}
	return m
}

func (v ownColumns) Form() string { return "a map such as {guest: [age, income]}" }
