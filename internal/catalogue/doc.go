// Package catalogue finds data by the name that a person or a job file gives it,
// and reads it: a bundled set, a file, a folder of images, or a name in
// the data folder.
//
//	lib := catalogue.New(catalogue.Folder(os.Getenv))
//	set, err := lib.Load("bundled:digits", catalogue.Columns{Label: "label"})
//
// Every error is one sentence that says what to do: an [*Error] of this package
// when the data is not found, a [*dataset.SyntaxError] when it does not read.
package catalogue
