package stage

import (
	"cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/release"
)

// release is what the party lets out of rows.
func (p *Party) release(kind release.Kind, c Cast, rows *dataset.Set) release.Release {
	r := release.Release{
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
func (p *Party) sumsReleased(c Cast) release.Release {
	r := p.release(release.Sums, c, p.split.Set)
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
func (p *Party) phasesReleased(c Cast) release.Release {
	if active := p.Job.Active(); len(active) == 1 && p.Self == active[0] {
		return release.Release{}
	}
	r := p.release(release.Phases, c, p.split.Set)
	r.Directions = p.Job.Protocol.Directions
	return r
}
