package endpoint

import "github.com/mercer-fl/mercer/internal/base/request"

// Signer and Signed are of package request, which devices link without a server.
type (
	Signer = request.Signer
	Signed = request.Signed
)

// ErrOtherBody refuses a body that its header does not name.
var ErrOtherBody = request.ErrOtherBody
