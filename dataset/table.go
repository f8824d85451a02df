package dataset

// Table is a matrix of finite numbers, dense or sparse.
type Table interface {
	Rows() int
	Cols() int
	// Row writes row i densely into dst, of length Cols, and returns it. With
	// dst nil it allocates.
	Row(i int, dst []float64) []float64
	// Subset returns the given rows in the given order; it may share memory.
	Subset(rows []int) Table
	// Columns returns the given columns in the given order.
	Columns(cols []int) Table
	// Each calls f for every stored entry of row i in ascending column order;
	// a dense table calls it for zeros too.
	Each(i int, f func(col int, value float64))
}

// Set is a table with what is known about its rows. Labels, IDs, Groups and Cut are nil or
// as long as the table.
type Set struct {
	Name    string // where it came from, for messages
	X       Table
	Labels  []string // class names, or numbers as text
	IDs     []string
	Columns []string // names, or nil
	Groups  []string // rows of one group, such as a patient's, are held out together
	Cut     []string // cells of a column by which later rows are held out: see [Bound]
}
