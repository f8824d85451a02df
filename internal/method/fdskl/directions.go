package fdskl

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Directions are random directions for some columns.
type Directions struct {
	columns.Directions
	Kernel job.Kernel // with gamma in plain numbers
}

// DirectionsOf returns the directions of a job, with gamma in plain numbers.
func DirectionsOf(j *job.Job, d columns.Directions) Directions {
	k := j.Kernel
	k.Gamma, k.GammaUnit = d.Gamma, ""
	return Directions{d, k}
}

// Phases returns the phases of rows, with the given number of bits each.
func (d Directions) Phases(rows linalg.Rows, bits int) (fdskl.Source, error) {
	spectrum, err := spectrumOf(d.Kernel)
	if err != nil {
		return nil, err
	}
	_, width := rows.Shape()
	return feature.NewPhases(rows, feature.Directions{
		Spectrum: spectrum, Columns: width,
		Entries: func(block, column int) feature.Numbers {
			return prg.New(d.Key, "fdskl/entries", number(block), number(d.Before+column))
		},
		Scales: func(block int) feature.Numbers { return prg.New(d.Common, "fdskl/scales", number(block)) },
	}, bits), nil
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// hash names the input from which phases are computed.
func (d Directions) hash(rows linalg.Rows) [sha256.Size]byte {
	h := sha256.New()
	h.Write(d.Key[:])
	n, width := rows.Shape()
	row, line := make([]float64, width), make([]byte, 0, 8*width)
	for i := range n {
		rows.ReadRow(i, row)
		line = line[:0]
		for _, v := range row {
			line = binary.LittleEndian.AppendUint64(line, math.Float64bits(v))
		}
		h.Write(line)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// spectrumOf returns the distribution of a kernel's directions.
func spectrumOf(k job.Kernel) (feature.Spectrum, error) {
	if k.Name == job.LaplacianProduct {
		return feature.Manhattan(k.Gamma), nil
	}
	return feature.SpectrumOf(k.Spec())
}

// answeredAtOnce limits the rows of one answer.
const answeredAtOnce = 1 << 12

// AnswerAll answers all that a schedule asks for, in words of size bytes, until ctx ends.
func AnswerAll(ctx context.Context, s fdskl.Schedule, source fdskl.Source, size int) error {
	for q, more := s.Next(); more; q, more = s.Next() {
		var rows []int
		for _, span := range q.Rows {
			rows = append(rows, linalg.Range(span.First, span.First+span.Count)...)
		}
		words := make([]byte, min(len(rows), answeredAtOnce)*q.Directions.Count*size)
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(rows), answeredAtOnce)
			part := words[:n*q.Directions.Count*size]
			source.Block(part, rows[:n], q.Directions.First, q.Directions.Count)
			s.Answer(rows[:n], part)
			rows = rows[n:]
		}
	}
	return nil
}
