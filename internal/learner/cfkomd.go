package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// CFKOMD is the recommender of package learn/komd.
type CFKOMD struct{ Profile }

var _ job.Learner = (*CFKOMD)(nil)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (CFKOMD) Name() string        { return "cf-komd" }
func (CFKOMD) New() section.Values { return new(CFKOMD) }
func (CFKOMD) Task() job.Task      { return job.Task{} }

// Section declares the keys of the job file.
func (l *CFKOMD) Section() *section.Section {
	return &section.Section{Doc: "A recommender: it ranks the items that a person has not liked yet.", Fields: []section.Field{
		lambdaKey(&l.Lambda, "0.1", "The penalty on uneven weights, above 0."),
		{Key: "recommend", Value: section.Whole{Dst: &l.Recommend}, Default: "10", Doc: "The number of items recommended to each person, 1 or more."},
	}, Finish: func(in *section.Place) error {
		return errors.Join(in.Positive("lambda", l.Lambda), in.Some("recommend", l.Recommend))
	}}
}

// ProfileOf returns the settings of a job's recommender, or nil if its learner is another one.
func ProfileOf(j *job.Job) *Profile {
	if l, is := j.Learner.Values.(*CFKOMD); is {
		return &l.Profile
	}
	return nil
}
