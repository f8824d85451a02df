package party

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// The checks between a key of a job file and a party's rows. A new key is judged here, in the first
// category that is true of it.
const (
	form       = "it names something, or is about time and form"
	simulated  = "a job that has it runs in simulate only"
	approved   = "it stands in a dictionary, or names a study, which the operator approves"
	byPolicy   = "the policy of the table allows it, with a bound where it is a number"
	byLedger   = "the ledger holds a second job that has it otherwise"
	ofProtocol = "it shapes what the protocol lets out of the rows that are admitted, which the protocol's page says"
	afterwards = "it decides what is computed from what has been let out"
	ofDevices  = "it is about people with devices, for whom claims and limits hold"
)

// judged lists keys, each by its path; a path that ends in a dot stands for all below it.
var judged = map[string][]string{
	form: {
		"apiVersion", "kind", "metadata.", "spec.timeout.", "spec.data.source", "spec.data.dictionary", "spec.data.partition.by",
		"kind Fit: spec.source", "kind Fit: spec.dictionary", "kind Fit: spec.timeout.",
		"spec.data.label.titles",      // which only replace classes in texts for people
		"spec.data.partition.aligned", // which shows nobody an id; docs/ledger.md says what guesses at ids tell
	},
	simulated: {
		"spec.seed", "spec.data.sources", "spec.data.schema", "spec.data.schema.", "spec.data.partition.skew", "spec.data.partition.coverage", "spec.data.partition.labels",
		"spec.data.partition.dropout", "spec.data.test.by", "spec.data.test.every", "spec.data.test.source", "spec.data.test.parties", "spec.compare", "spec.repeats", "spec.link.",
		"protocol okra.late", "protocol okra.withdrawn", "protocol okra.added", "protocol secureboost.he",
	},
	approved: {
		"spec.data.dictionary.", "kind Fit: spec.dictionary.", "spec.study", "kind Fit: spec.study",
		// Jobs without a dictionary say none of these, and are refused if they do; the fraction is one for all.
		"spec.data.classes", "spec.data.label.classes", "spec.data.test.fraction", "protocol moments.classes", "protocol moments.targets",
		"protocol sealed.classes", "protocol sealed.targets",
	},
	byPolicy: {
		"spec.protocol", "spec.kernel", "spec.learner", "spec.prediction", "spec.data.partition.parties", "spec.data.label", "spec.data.label.column", "spec.data.label.missing", "spec.data.id", "spec.data.weight", "spec.data.group",
		"spec.data.features", "spec.data.test.party", "spec.data.test.column", "spec.data.test.from",
		"protocol okra.mode", "protocol flake.mode", "protocol escaped.mode", "protocol moments.mode", "protocol gram.mode", "protocol fdskl.mode", "protocol pp-svmv.mode", "protocol fd-svrg.mode",
		"protocol secureboost.mode", "protocol okra.continuable", "protocol okra.continues", "protocol okra.preparation", "protocol moments.directions", "protocol moments.histogram",
		"protocol sealed.mode", "protocol sealed.features", "protocol moments.privacy.", "protocol sealed.privacy.",
		"protocol fdskl.directions", "protocol fdskl.labels", "protocol fdskl.active", "protocol gram.max_ids", "protocol fdskl.max_ids", "protocol pp-svmv.max_ids", "protocol fd-svrg.max_ids",
		"protocol secureboost.max_ids", "learner cca.view",
	},
	byLedger: {"spec.data.columns", "spec.data.partition.columns", "spec.data.scale", "spec.data.folds", "spec.data.fit.", "spec.data.partition.alignment", "spec.data.partition.aligned_by", "kind Fit: spec.parties", "kind Fit: spec.scale"},
	ofProtocol: {
		"protocol okra.encoder", "protocol okra.wire", "protocol okra.rounds", "protocol flake.wire", "protocol moments.deviations", "protocol fdskl.training", "protocol fdskl.bits",
		"protocol fdskl.tree", "protocol sealed.keepers", "protocol sealed.alpha_per_row", "protocol sealed.certify",
	},
	afterwards: {
		"spec.scoring", "learner svc.", "learner nu-svc.", "learner one-class.", "learner svr.", "learner ridge.", "learner gp.", "learner kpca.", "learner cca.", "learner kmeans.",
		"learner ridge-classifier.", "learner logistic.", "learner smooth-hinge.", "learner squared.", "learner huber.", "learner boosted-trees.",
	},
	ofDevices: {"spec.data.like", "protocol fedcfk.", "protocol secvm.", "learner cf-komd.", "learner linear-svm."},
}

// No key may be added to the job file without a judgement on what it lets a coordinator choose.
func TestEveryKeyIsJudged(t *testing.T) {
	used := make(map[string]bool)
	judge := func(path string) {
		best := ""
		for _, paths := range judged {
			for _, p := range paths {
				if (p == path || strings.HasSuffix(p, ".") && strings.HasPrefix(path, p)) && len(p) > len(best) {
					best = p
				}
			}
		}
		if best == "" {
			t.Errorf("%s: nobody has judged what it lets a coordinator choose", path)
		}
		used[best] = true
	}
	var walk func(path string, s *section.Section)
	walk = func(path string, s *section.Section) {
		for _, f := range s.Fields {
			below, leaf := path+f.Key+".", true
			if in, is := f.Value.(*section.Section); is {
				walk(below, in)
				leaf = false
			}
			if m, is := f.Value.(interface{ Map() *section.Section }); is {
				walk(below, m.Map())
			}
			if m, is := f.Value.(interface{ Each() *section.Section }); is {
				walk(below+"COLUMN.", m.Each())
			}
			if leaf {
				judge(path + f.Key)
			}
		}
	}
	r := all.Reader()
	walk("", r.File())
	walk("kind Fit: spec.", job.FitSpec())
	for _, p := range r.Protocols {
		walk("protocol "+p.Name()+".", p.New().Section())
	}
	for _, l := range r.Learners {
		walk("learner "+l.Name()+".", l.New().Section())
	}
	seen := make(map[string]bool)
	for _, paths := range slices.Collect(maps.Values(judged)) {
		for _, p := range paths {
			if seen[p] || !used[p] {
				t.Errorf("%s is judged twice, or is no key any more", p)
			}
			seen[p] = true
		}
	}
}
