// Package model reads and writes files of trained models. The format is versioned, checksummed and
// canonical: the same model is always the same bytes. A file holds no time and no path, and no names from the data
// but those of classes and columns.
//
//	head := model.Voters(model.SVC, classifier.Compact(), nil)
//	m, err := model.New(spec, scale, supportRows, head) // rows classifier.Support()
//	if err != nil {
//		return err
//	}
//	if err := model.Encode(f, m); err != nil {
//		return err
//	}
//	...
//	m, err := model.Open(f)
//	if err != nil {
//		return err
//	}
//	decisions, err := m.Decisions(rows)              // rows as the training data came, not scaled
//	for _, class := range m.Output().Predict(decisions) {
//		fmt.Println(class)
//	}
//
// The learner of a model with rows produces functions of the kernel of a new row with some rows of the
// training data ([Function]). [Output] defines what their values mean for each [OutputShape]. A Gaussian
// process also needs its rows for the deviations. [WriteLIBSVM] and [ReadLIBSVM] exchange models with
// LIBSVM.
//
// # What a file reveals
//
// A public model contains its support vectors: complete rows of the training data which, with the
// scale in the same file, can be restored to their original units. For kinds ridge, gp, kpca and
// kmeans these are all rows of the training data. Anybody with the file has these rows with their
// classes. It also shows the kernel, the class names, the extremes or moments of every column (the
// scale), and which support vectors were hard to classify (their coefficients are at the bound C).
// The coefficients of ridge and gp, with the rows, reveal the targets.
//
// A private model ([Private]) contains support vectors that parties encoded for a protocol (OKRA).
// Without the encoder's seed they show only what the coordinator knows anyway: all inner products
// of these rows. With the seed, which every party of the session has, they decode to the other
// parties' rows. A private model therefore stays on the coordinator. It is another Go type and
// another file type, [Open] refuses it with [ErrPrivate], and a command asked to download it exits
// with code 3, "refused by policy". New rows are predicted in a session in which their owner
// encodes them. Its bytes are not encrypted: protect the file like the encoded rows themselves.
//
// A model of random features ([Random], read by [OpenRandom]) holds no row. It holds weights, a public
// seed, class names, and the scale if its writer knows it. A model of kind gp also holds sums of
// products of features over the training rows. If these rows are few, the sums allow guesses about who
// is among them (package moments).
//
// A model with named columns (Named, Columns) shows the names. [WriteLIBSVM] omits them, because
// LIBSVM's files have no column names.
//
// A [Rowless] model holds no row, but the squared norms of its rows and, for a Gaussian process, all their
// inner products. A preparation before a model ([EncodePrepared]) shows what package dataset/prepare keeps of
// the columns, such as their categories.
//
// # File format, versions 1 and 2
//
// All integers and floats are little-endian; floats are IEEE 754. A string is a
// 16-bit length and that many bytes.
//
//	offset  bytes  field
//	     0      8  magic: "MERCER", 0, then "M" (public) or "P" (private)
//	     8      2  version: 1, or 2 with the names of columns; a private model has none
//	    10      8  length of the file, from the magic to the checksum
//	    18         string: the kind of the model, such as "svc"; of one that is none of
//	               the constants here, a name, a colon and its [OutputShape], such as "klr:odds"
//	               string: the kernel as kernel.Spec.Canonical writes it
//	            4  f, the width of a row: features, or encoded width when private
//	            4  s, the number of support vectors
//	            1  p, bytes per number of a support vector: 4 or 8
//	            1  1 if a scale follows the classes, else 0; always 0 when private
//	            4  c, the number of classes; 0 unless the kind tells classes apart
//	               c strings: the classes by code
//	            4  m, the number of functions, as the shape says: one for each pair of
//	               classes (0,1), (0,2), ..., (c-2,c-1), for each class, component or
//	               cluster, else 1
//	          8 f  with a scale: the offsets
//	          8 f  with a scale: the factors; a row is used as (x - offset) * factor
//	               in version 2: f strings, the columns' names, each another
//	      p s f    the support vectors, row by row
//	               for each function:
//	            8    rho
//	            4    k, the number of coefficients
//	          4 k    ascending numbers of support vectors
//	          8 k    their coefficients; for a pair alpha of its first class, -alpha of the second
//	               then, for a kind that tells classes apart:
//	            1    1 if probabilities are calibrated, else 0
//	         16 m    if so, A and B of each pair's sigmoid
//	               and for one with deviations:
//	            8    the noise, the variance of a measurement in squared units
//	            8    the unit, the standard deviation of the targets
//	   end     32  SHA-256 of all bytes before
//
// p is 4 exactly if every number of the support vectors is a float32, as it is
// after OKRA's float32 wire: half the size, nothing lost, and still one
// encoding.
//
// A model of random features begins with "MERCER", 0, "R", the version and the length, and
// ends in the checksum likewise. Between them: strings kind and kernel, 8 bytes
// gamma, with kernel linear 8 bytes bound, 32 bytes seed; classes as above; 4 bytes width, 0 if not known;
// 1 byte, 1 if rows are scaled, and 1 byte, 1 if offsets and factors follow, which are next; in version 2 the
// columns' names; 4 bytes outputs, 4 bytes features, 8 bytes alpha, the weights output by output, the outputs'
// offsets; and for a kind with deviations noise, unit and the upper triangle of the sums.
//
// A reader accepts no file above its limit ([Limits]), and verifies the checksum before it reads the
// content. Apart from memory for one row, it allocates memory only in proportion to the bytes of the file. The
// checksum detects damage, not forgery: whoever can change the file can also change the checksum.
package model
