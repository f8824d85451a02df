package model

// Reading is the earlier name of [Output].
//
// Deprecated: use Output.
type Reading = Output

// Shape is the earlier name of [OutputShape].
//
// Deprecated: use OutputShape.
type Shape = OutputShape

// Shape is the earlier name of [Kind.OutputShape].
//
// Deprecated: use OutputShape.
func (k Kind) Shape() OutputShape { return k.OutputShape() }

// Reading is the earlier name of [Model.Output].
//
// Deprecated: use Output.
func (m *Model) Reading() Output { return m.Output() }

// Reading is the earlier name of [Random.Output].
//
// Deprecated: use Output.
func (m *Random) Reading() Output { return m.Output() }

// Reading is the earlier name of [Private.Output].
//
// Deprecated: use Output.
func (p *Private) Reading() Output { return p.Output() }
