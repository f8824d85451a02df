// Package parquet reads the values of flat Apache Parquet files. It supports format version 2.11,
// one leaf for each column, pages of version 1 and 2, plain or compressed by Snappy, gzip or
// Zstandard.
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
// It is written for files that nobody vouches for. A few bytes of parquet can
// announce any number of rows, and a page of a few bytes any length: nothing is
// allocated before it was held against [Limits], the file's size, and what a page
// can hold. In use at a time are the footer, one page as it is stored and
// decompressed, and up to 8 bytes for each of the page's values.
//
// Errors are sentences without a subject where the column is known to the caller,
// and say what to do.
package parquet
