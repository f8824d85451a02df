// Package model is the file that holds a trained model: versioned, checksummed,
// and canonical: the same model is always the same bytes. A file holds no time,
// no path and no name of a person or a machine.
//
//	m, err := model.NewSVC(spec, scale, supportRows, classifier)
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
//	for _, code := range m.Predict(decisions) {
//		fmt.Println(m.Classes()[code])
//	}
//
// # What a file reveals
//
// A public model contains its support vectors: rows of the training data,
// complete and, after undoing the scale that stands in the same file, in their
// original units. Whoever has the file has these rows with their classes. It
// also shows the kernel, the class names, the extremes or moments of every
// column (the scale), and which support vectors were hard to classify (their
// coefficients are at the bound C).
//
// A private model ([Private]) contains support vectors that parties encoded for
// a protocol (OKRA). Without the encoder's seed they show what the coordinator
// knows anyway: all inner products of these rows. With it, and every party of
// the session has it, they decode to the other parties' rows. A private model
// therefore stays on the coordinator. It is another Go type and another file
// type, [Open] refuses it with [ErrPrivate], and a command that was asked to
// download it exits with code 3, "refused by policy". Predictions for new rows
// are a session in which their owner encodes them. Its bytes are not encrypted:
// guard the file as the encoded rows themselves.
//
// # File format, version 1
//
// All integers and floats are little-endian; floats are IEEE 754. A string is a
// 16-bit length and that many bytes.
//
//	offset  bytes  field
//	     0      8  magic: "MERCER", 0, then "M" (public) or "P" (private)
//	     8      2  version, 1
//	    10      8  length of the file, from the magic to the checksum
//	    18         string: the type of the model, "svc"
//	               string: the kernel as kernel.Spec.Canonical writes it
//	            4  f, the width of a row: features, or encoded width when private
//	            4  s, the number of support vectors
//	            1  p, bytes per number of a support vector: 4 or 8
//	            1  1 if a scale follows the classes, else 0; always 0 when private
//	            4  c, the number of classes
//	               c strings: the classes by code
//	          8 f  with a scale: the offsets
//	          8 f  with a scale: the factors; a row is used as (x - offset) * factor
//	      p s f    the support vectors, row by row
//	               for each pair of classes (0,1), (0,2), ..., (c-2,c-1):
//	            8    rho
//	            4    k, the number of coefficients
//	          4 k    ascending numbers of support vectors
//	          8 k    their coefficients: alpha for the pair's first class, -alpha for the second
//	   end     32  SHA-256 of all bytes before
//
// p is 4 exactly if every number of the support vectors is a float32, as it is
// after OKRA's float32 wire: half the size, nothing lost, and still one
// encoding.
//
// A reader takes no file above its limit ([Limits]), allocates for counts only
// what the bytes present can fill, and verifies the checksum before it looks at
// anything else. The checksum finds damage, not forgery: whoever can change the
// file can change it too.
package model
