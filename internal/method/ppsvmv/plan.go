package ppsvmv

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/say"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// Plan implements [method.Federated]: the parties align their rows and add up their Gram
// matrices around the ring, the label holder sends the labels, and the coordinator learns.
func (Method) Plan(c method.Case) ([]method.Step, error) {
	plan, err := columns.Steps(c)
	if err != nil {
		return nil, err
	}
	plan = append(plan, method.Step{Name: "protocol", Session: adding(c)})
	if c.Job.Data.Label != job.NoLabel {
		plan = append(plan, columns.LabelStep(c))
	}
	if c.Job.Data.Folds > 0 {
		plan = append(plan, method.Step{Name: "tune"})
	}
	return append(plan, method.Step{Name: "learn"}, method.Step{Name: "evaluate"}), nil
}

// adding is the session of the ring. The first party leads it.
func adding(c method.Case) *method.Session {
	return method.Following(method.Session{
		Protocol: ppsvmv.Name, Version: ppsvmv.Version, Members: c.Everybody(), Purpose: "train", Discloses: []string{ppsvmv.TileKind},
	}, func(k method.Known) ([]byte, error) {
		d := k.(columns.Declared)
		p, err := matrix(c.Job).Params(d)
		if err != nil {
			return nil, err
		}
		params, err := ppsvmv.NewParams(p.Groups(), d.Digest)
		if err != nil {
			return nil, fault.BadInput(err)
		}
		return params.Encode(), nil
	})
}

// matrix is the arithmetic of a job. It refuses more rows than have a matrix that fits.
func matrix(j *job.Job) columns.Products {
	return func(holders []gram.Holder, rows int) (gram.Params, error) {
		if words := rows * (rows + 1) / 2; rows > gram.MaxRows {
			return gram.Params{}, fmt.Errorf("ppsvmv: %d rows have a matrix of %d words (%s), which all pass through every party; bring at most %d rows, or use protocol fdskl", rows, words, say.Bytes(8*words), gram.MaxRows)
		}
		return columns.ProductsOf(j)(holders, rows)
	}
}

// judge refuses declarations that cannot be added up.
type judge struct{ columns.Products }

// Usable implements [columns.Judge].
func (u judge) Usable(d columns.Declared) error {
	_, err := u.Params(d)
	return err
}
