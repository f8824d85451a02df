// Package catalogue finds a data set by the name that a person or a job file gives, and reads it.
// The name can mean a bundled or generated set, a file, several files, a folder of images, or an entry of
// the data folder.
//
//	lib := catalogue.New(catalogue.Folder(os.Getenv))
//	set, err := lib.Load("bundled:digits", catalogue.Columns{Label: "label"})
//
// Every error is one sentence that says what to do: an [*Error] of this package about the source, or a
// [*dataset.SyntaxError] about a place in it.
package catalogue
