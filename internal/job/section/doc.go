// Package section declares the keys of a map in a job file. The same declaration reads the map
// strictly, writes it canonically and documents it.
//
//	type Keys struct{ Wire string }
//
//	func (k *Keys) Section() *section.Section {
//		return &section.Section{Name: "protocol", Fields: []section.Field{{
//			Key: "wire", Value: section.Choice[string]{Noun: "wire", Dst: &k.Wire, Known: []string{"float32", "float64"}},
//			Default: "float32", Doc: "The type of the numbers that are sent.",
//		}}}
//	}
//
// [Section.Decode] reads a map into the struct, and [Section.Encode] writes it. Reading errors are
// of type [*Error] and name a line.
package section
