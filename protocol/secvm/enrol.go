package secvm

import "github.com/mercer-fl/mercer/internal/crypto/prg"

// Seeds are a device's secrets of one model. From equal seeds a simulated device
// and a real one draw the same role and the same sample; the labels of their
// streams are the simulation's.
type Seeds struct{ Role, Own [32]byte }

// Cast draws the device's role.
func (s Seeds) Cast(testers float64) Role { return Cast(testers, prg.New(s.Role, "simulate/role")) }

// Random returns the device's other random numbers. It begins anew with every
// call.
func (s Seeds) Random() Random { return prg.New(s.Own, "simulate/device") }
