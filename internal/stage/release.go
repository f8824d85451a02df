package stage

import (
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
)

// release is what the party lets out of rows.
func (p *Party) release(kind method.ReleaseKind, c Cast, rows *dataset.Set) method.Release {
	cast := c.framed()
	cast.Job = p.Job
	r := cast.Release(kind, p.Self, p.label, rows)
	r.Question = p.vertical.portion != nil
	return r
}

// phasesReleased is what a worker lets out. Who alone is active shows nobody
// anything of its columns.
func (p *Party) phasesReleased(c Cast) method.Release {
	if active := p.Job.Active(); len(active) == 1 && p.Self == active[0] {
		return method.Release{}
	}
	r := p.release(method.ReleasePhases, c, p.split.Set)
	r.Directions = p.Job.Protocol.Limit("directions")
	return r
}
