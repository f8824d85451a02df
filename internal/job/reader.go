package job

// Reader reads jobs of the protocols that a program has.
type Reader struct {
	Protocols []ProtocolName // in the order of the documents
}

// Parse reads a job file. The name is what errors call the file. Every error
// is an [*Error] and names a line.
func (r *Reader) Parse(name string, data []byte) (*Job, error) {
	j := new(Job)
	root, err := document(data)
	if err == nil {
		err = j.file(r).Decode("", root)
	}
	if err != nil {
		return nil, inFile(name, err)
	}
	return j, nil
}

// Validate checks a job that was built or changed by a program and fills the
// defaults of what it leaves out, as Parse does. Lines in its error count in
// the canonical file.
func (r *Reader) Validate(j *Job) error {
	valid, err := r.Parse("job", j.Encode())
	if err != nil {
		return err
	}
	*j = *valid
	return nil
}
