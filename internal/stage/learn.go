package stage

import (
	"context"

	"github.com/mercer-fl/mercer/internal/learner"
)

// learn fits the job's learner on the Gram matrix. The model holds no rows.
func (s *Server) learn(ctx context.Context, progress Reporter) error {
	if s.choice == nil {
		if err := s.tune(ctx, progress); err != nil {
			return err
		}
	}
	var err error
	s.fitted, err = s.choice.Fit(ctx, s.task(), progress.Counts("learn"))
	return err
}

// tune chooses a cell of the job's grid.
func (s *Server) tune(ctx context.Context, progress Reporter) error {
	var err error
	s.choice, err = learner.Choose(ctx, s.Job, s.task(), progress.Counts("tune"))
	return err
}

func (s *Server) task() learner.Problem {
	return s.vertical.task
}

func (s *Server) evaluate(context.Context, Reporter) error {
	var err error
	s.metrics, err = s.fitted.Measure()
	return err
}
