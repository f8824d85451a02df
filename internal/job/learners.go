package job

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// EncodeLearners writes the learners of a grid as a job file's section learner has them. All must
// have the same Kind.
func EncodeLearners(list []Named) []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	if err := errors.Join(e.Encode(new(Reader).learners(&list).Encode()), e.Close()); err != nil {
		panic(fmt.Sprintf("job: %v", err)) // encoding scalars and maps into memory cannot fail
	}
	return b.Bytes()
}

// DecodeLearners reads what [EncodeLearners] wrote. Every error is an [*Error] and names a line.
func (r *Reader) DecodeLearners(text []byte) ([]Named, error) {
	var list []Named
	root, err := document(text)
	if err == nil {
		err = r.learners(&list).Decode("learner", root)
	}
	return list, err
}

func (r *Reader) learners(list *[]Named) sweep[Named] {
	return sweep[Named]{list, r.learner}
}
