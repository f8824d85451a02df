package secvm

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// LinearModel is a linear machine on hashed features or on columns. It is public.
type LinearModel struct {
	Params  secvm.Params
	Classes [2]string // of label -1 and +1
	Weights []float64
}

// Predict returns the class of a record with the features of these names.
func (m LinearModel) Predict(names []string) string {
	if secvm.Predict(m.Params.Vector(names).Score(m.Weights)) < 0 {
		return m.Classes[0]
	}
	return m.Classes[1]
}

const linearModelMagic = "mercer/v1/linear-model"

// Encode returns the canonical bytes.
func (m LinearModel) Encode() []byte {
	var w wire.Writer
	w.String(linearModelMagic)
	w.Bytes32(m.Params.Encode())
	w.String(m.Classes[0])
	w.String(m.Classes[1])
	w.Bytes32(secvm.EncodeWeights(m.Weights))
	return w.Bytes()
}

// DecodeLinearModel reads what Encode writes, and refuses all other bytes.
func DecodeLinearModel(b []byte) (LinearModel, error) {
	const maxParams, maxClass, maxWeights = 1 << 10, 1 << 10, 8 * (1<<20 + 1)
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != linearModelMagic {
		r.Fail(fmt.Errorf("a model of %q", magic))
	}
	params := r.Bytes32(maxParams)
	m := LinearModel{Classes: [2]string{r.String(maxClass), r.String(maxClass)}}
	weights := r.Bytes32(maxWeights)
	err := r.Close("secvm: linear model")
	if err == nil {
		m.Params, err = secvm.DecodeParams(params)
	}
	if err != nil {
		return LinearModel{}, err
	}
	w, err := m.Params.DecodeWeights(weights)
	m.Weights = w.Values()
	return m, err
}
