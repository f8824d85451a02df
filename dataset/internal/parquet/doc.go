// Package parquet reads the values of flat Apache Parquet files. It supports format version 2.11,
// one leaf for each column, pages of version 1 and 2, plain or compressed by Snappy, gzip, Brotli,
// Zstandard or LZ4. Nested and repeated columns have a fault and cannot be read.
//
//	f, err := parquet.Open(r, size, parquet.Limits{})
//	if err != nil {
//		return err
//	}
//	err = f.Each(0, func(row int, value []byte) error {
//		fmt.Println(row, math.Float64frombits(binary.LittleEndian.Uint64(value)))
//		return nil
//	})
//
// The package is written for files that nobody vouches for. A few bytes of parquet can
// announce any number of rows, and a page of a few bytes any length. The package therefore
// allocates memory only after it has compared the size with [Limits], with the file's
// size, and with what a page can hold. In memory at a time are the footer and, for each column that
// is being read, one dictionary, one page as it is stored and decompressed, and some 24 bytes at most
// for each of the page's values.
//
// Errors say what to do. If the caller knows the column, the text of an error has no subject;
// it is to be written after the column's name.
package parquet
