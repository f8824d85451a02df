// Package dataset reads and writes tables of numbers with labels, splits them, and partitions them
// among parties. Its readers take an io.Reader, not a file name.
//
// A [Table] is [Dense], [Dense32] or [CSR] or, before its cells are prepared, [Typed]; a [Set]
// adds labels, ids and column names. [Read] takes CSV and LIBSVM text and NumPy's .npy, plain or compressed by
// gzip, .npz and Apache Parquet, and refuses what it cannot read in one sentence
// with name and line; [ReadIDX] takes MNIST's pairs of files and [ReadImages]
// folders of JPEG and PNG files:
//
//	set, err := dataset.Read("heart.csv", file, dataset.Options{})
//	if err != nil {
//		return err // heart.csv:17: column "age" is empty; fill the cell or drop the row
//	}
//	train, test, err := dataset.Split(set.Labels, 0.25, 1)
//	if err != nil {
//		return err
//	}
//	classes, codes := dataset.Classes(set.Subset(train).Labels)
//
// Everything drawn at random (splits, folds, partitions) depends only on the arguments, including the
// seed. The samplers are this package's own, on the PCG generator, so that neither the Go version nor
// timing changes a result.
//
// Memory: a reader of text holds one line of at most [MaxLine] bytes and the growing table. Slices
// grow by append, which copies: at its peak such a reader holds at most three times the finished table
// of 8 bytes a cell (CSV) or 12 bytes a stored entry (LIBSVM text), with its labels and ids. Images,
// and arrays and parquet tables whose types fit in float32, take 4 bytes a cell. Selecting rows of
// dense tables and stacking rows of one precision copies nothing, nor does selecting adjacent columns
// of a table that was not stacked. Tables of more than [MaxColumns] columns or [MaxCells] numbers are
// refused, even if they come from a small gzip file; [OpenBlocks] does not bound the numbers of a table.
package dataset
