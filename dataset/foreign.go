package dataset

import "bytes"

// foreign is a kind of file that is not read as text, and how to read its table.
type foreign struct{ magic, kind, remedy string }

// asCSV is the remedy for the file of a program that can export its tables.
const asCSV = "export the table as CSV or parquet"

// unpack is the remedy for compressed files.
const unpack = "unpack it"

// foreigners lists kinds of files by their first bytes. A file of gzip is not listed,
// because readers decompress it.
var foreigners = []foreign{
	{"PK\x03", "a zip archive or a spreadsheet", "unpack it or export it as CSV"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel file of the old format", asCSV},
	{"\x93NUM", "a NumPy array", "rename it to end with .npy"},
	{"PAR1", "a parquet file", "rename it to end with .parquet"},
	{"SQLite format 3\x00", "a SQLite database", "give sql: {sqlite: FILE, query_file: FILE} in place of the path (--sqlite and --query)"},
	{"$FL2@(#)", "an SPSS file", asCSV},
	{"$FL3@(#)", "an SPSS file", asCSV},
	{"<stata_dta>", "a Stata file", asCSV},
	{"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60", "a SAS file", asCSV},
	{"RDX2\n", "a file of R", "save the table by write.csv"},
	{"RDX3\n", "a file of R", "save the table by write.csv"},
	{"X\n\x00\x00\x00", "a file of R", "save the table by write.csv"},
	{"\x80\x02", "a pickle of Python", "save the table by to_csv or to_parquet"},
	{"\x80\x03", "a pickle of Python", "save the table by to_csv or to_parquet"},
	{"\x80\x04", "a pickle of Python", "save the table by to_csv or to_parquet"},
	{"\x80\x05", "a pickle of Python", "save the table by to_csv or to_parquet"},
	{"ARROW1\x00\x00", "an Arrow file (Feather)", "save the table by to_csv or to_parquet"},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file", "save the table by to_csv or to_parquet"},
	{"%PDF-", "a PDF document", "ask for the table as CSV or parquet"},
	{"{\\rtf", "a text document", asCSV},
	{"BZh91AY&SY", "compressed by bzip2", unpack},
	{"\xfd7zXZ", "compressed by xz", unpack},
	{"\x28\xb5\x2f\xfd", "compressed by zstd", unpack},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", unpack},
	{"Rar!\x1a\x07", "a RAR archive", unpack},
}

// longestMagic is the length of the longest first bytes in foreigners.
const longestMagic = 16

// foreignIn returns the kind of file that begins with head, or nil for other files.
func foreignIn(head []byte) *foreign {
	for i, f := range foreigners {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return &foreigners[i]
		}
	}
	return nil
}

// looksMarkup reports whether a text begins like a web page or an XML document.
func looksMarkup(head []byte) bool {
	rest := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	for _, tag := range []string{"<!doctype", "<html", "<head", "<?xml"} {
		if bytes.HasPrefix(rest, []byte(tag)) {
			return true
		}
	}
	return false
}
