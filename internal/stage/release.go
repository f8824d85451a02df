package stage

import (
	"cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
)

// release is what the party lets out of rows.
func (p *Party) release(kind method.ReleaseKind, c Cast, rows *dataset.Set) method.Release {
	r := method.Release{
		Kind: kind, Job: p.Job.Name, Peers: []string{c.Coordinator}, Question: p.vertical.portion != nil,
		Scale: string(p.Job.Data.Scale), Table: p.Job.Data.Source, Set: rows,
	}
	for _, name := range c.Parties {
		if name != p.Self {
			r.Peers = append(r.Peers, name)
		}
	}
	if rows.Labels != nil {
		r.Label = cmp.Or(p.label, p.Job.Data.Label)
	}
	return r
}

// sumsReleased is what goes into sums: the training rows.
func (p *Party) sumsReleased(c Cast) method.Release {
	r := p.release(method.ReleaseSums, c, p.split.Set)
	r.Among = []int{}
	for i, held := range p.split.Test {
		if !held {
			r.Among = append(r.Among, i)
		}
	}
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
