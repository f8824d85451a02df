package crowd

import "github.com/mercer-fl/mercer/internal/base/wire"

// told describes a step that the server has announced. A device keeps it beside the session,
// so that a new process comes as far as the journals go without a server.
type told struct {
	step      int
	announced []byte
}

func (t told) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(t.step))
	w.Bytes32(t.announced)
	return w.Bytes()
}

// decodeTold decodes what encode wrote. An announcement of nothing is nil.
func decodeTold(b []byte) (told, error) {
	r := wire.NewReader(b)
	t := told{step: int(r.Uint32())}
	if announced := r.Bytes32(maxAnnounced); len(announced) > 0 {
		t.announced = announced
	}
	return t, r.Close("crowd: note of a step")
}
