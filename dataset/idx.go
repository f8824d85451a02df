package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// IDXOptions holds the settings for reading a pair of IDX files.
type IDXOptions struct {
	Name   string // name of the images' file, for messages
	Labels string // name of the labels' file, for messages
}

// ReadIDX reads a dense set from two files in the IDX format of MNIST, plain or compressed by gzip
// (Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits"). The length of the
// first axis in the file images is the number of rows. The product of the other lengths is the
// number of columns. The file labels has one number for each row; a nil labels gives a set without
// labels. The table is a Dense for integers of 32 bits and numbers of 64 bits, else a Dense32.
// ReadIDX refuses numbers that are not finite and bytes after the last number. Errors are
// *SyntaxError with the name of the file at fault.
func ReadIDX(images, labels io.Reader, o IDXOptions) (*Set, error) {
	return readIDX(images, labels, o, defaultLimits())
}

func readIDX(images, labels io.Reader, o IDXOptions, bounds limits) (*Set, error) {
	x, err := readIDXTable(text(o.Name), images, bounds)
	if err != nil || labels == nil {
		return setOf(o.Name, x, err)
	}
	y, err := readIDXTable(text(o.Labels), labels, bounds)
	if err != nil {
		return nil, err
	}
	if y.Cols() != 1 || y.Rows() != x.Rows() {
		return nil, text(o.Labels).errorf(0, "the file holds %d x %d labels, but there are %d rows in %s; give one label for each row",
			y.Rows(), y.Cols(), x.Rows(), quote(o.Name))
	}
	s := &Set{Name: o.Name, X: x, Labels: make([]string, y.Rows())}
	var l labeller
	var cell [1]float64
	for i := range s.Labels {
		if s.Labels[i], err = l.canonical(formatNumber(y.Row(i, cell[:])[0])); err != nil {
			return nil, text(o.Labels).errorf(0, "label %d %w; correct it or drop the row", i+1, err)
		}
	}
	return s, nil
}

func setOf(name string, x Table, err error) (*Set, error) {
	if err != nil {
		return nil, err
	}
	return &Set{Name: name, X: x}, nil
}

func readIDXTable(t text, r io.Reader, bounds limits) (Table, error) {
	b, err := gunzip(t, r)
	if err != nil {
		return nil, err
	}
	cell, dims, err := readIDXHeader(b)
	if err != nil {
		return nil, t.wrap(0, err)
	}
	s, err := shapeOf(dims, bounds)
	if err != nil {
		return nil, t.wrap(0, err)
	}
	x, err := readDense(b, cell, s)
	if err != nil {
		return nil, t.wrap(0, err)
	}
	return x, nil
}

var errNotIDX = errors.New("the file does not start like an IDX file; give a file such as MNIST's train-images-idx3-ubyte")

// readIDXHeader reads the type of the numbers and the length of each axis. The header has two
// zeros, the type, the number of axes and their lengths.
func readIDXHeader(r io.Reader) (cellType, []int, error) {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return cellType{}, nil, cutHeader(err)
	}
	cell := idxCell(b[2])
	axes := int(b[3])
	switch {
	case b[0] != 0 || b[1] != 0 || cell.size == 0:
		return cellType{}, nil, errNotIDX
	case axes > maxDims:
		return cellType{}, nil, fmt.Errorf("the file has %d axes, more than the %d allowed; write it as rows and columns", axes, maxDims)
	}
	dims := make([]int, axes)
	for d := range dims {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return cellType{}, nil, cutHeader(err)
		}
		dims[d] = int(binary.BigEndian.Uint32(b[:]))
	}
	return cell, dims, nil
}

// idxCell returns the cell type for an IDX type code. Its size is 0 for an unknown code.
func idxCell(code byte) cellType {
	c := cellType{order: binary.BigEndian}
	switch code {
	case 0x08:
		c.kind, c.size = 'u', 1
	case 0x09:
		c.kind, c.size = 'i', 1
	case 0x0b:
		c.kind, c.size = 'i', 2
	case 0x0c:
		c.kind, c.size = 'i', 4
	case 0x0d:
		c.kind, c.size = 'f', 4
	case 0x0e:
		c.kind, c.size = 'f', 8
	}
	return c
}
