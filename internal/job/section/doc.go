// Package section declares a map of a job file once, to read it strictly, to
// write it canonically and to document it.
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
// [Section.Decode] reads a map into the struct, and [Section.Encode] writes it.
// An error of reading is an [*Error] and names a line.
package section
