package job_test

import (
	. "github.com/mercer-fl/mercer/internal/job"

	"errors"
	"fmt"
	"strings"
	"testing"
)

// namesOf lists what a reader knows.
func namesOf(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name())
	}
	return strings.Join(names, ", ")
}

// badJobs are minimal jobs with one thing wrong each: the old text, what
// stands in its place, and the whole message.
var badJobs = []struct{ name, old, bad, want string }{
	// the file
	{"empty", minimal, "", "job.yaml:1: the file is empty; start it with apiVersion: mercer/v1"},
	{"only a comment", minimal, "# later\n", "job.yaml:1: the file is empty; start it with apiVersion: mercer/v1"},
	{"null", minimal, "~", "job.yaml:1: the job file is empty; it must be a map with apiVersion, kind, metadata, spec"},
	{"a list", minimal, "- a\n- b\n", "job.yaml:1: the job file is a list; this version takes one map with apiVersion, kind, metadata, spec"},
	{"not YAML", "spec:", "spec: [", "job.yaml:4: this is not YAML: did not find expected ',' or ']'"},
	{"not YAML in the first line", "apiVersion: mercer/v1", "]", "job.yaml:1: this is not YAML: did not find expected node content"},
	{"a colon too many", "name: small", "name: a: b", "job.yaml:3: this is not YAML: did not find expected ',' or '}'"},
	{"tab", "  data:", "\tdata:", "job.yaml:5: this is not YAML: found character that cannot start any token"},
	{"two documents", "  learner: {name: svc}\n", "  learner: {name: svc}\n---\na: 1\n", "job.yaml:11: a second document starts here; keep one job in a file"},
	{"anchor", "name: small", "name: &x small", "job.yaml:3: anchors such as &x are not allowed; write the value where it is used"},
	{"alias", "{name: svc}", "{name: svc, C: &c 1, tol: *c}", "job.yaml:10: anchors such as &c are not allowed; write the value where it is used"},
	{"tag", "gamma: 0.5", "gamma: !!float 0.5", "job.yaml:9: tags such as !!float are not allowed; write the plain value"},
	{"merge key", "{name: okra}", "{<<: {name: okra}}", "job.yaml:8: protocol has no name; add name: okra"},
	{"deep", "{name: small}", strings.Repeat("{a: ", 20) + "1" + strings.Repeat("}", 20), "job.yaml:3: maps and lists are nested more than 16 deep; no job needs that"},
	{"too large", minimal, minimal + strings.Repeat("#", MaxBytes), "job.yaml:1: the file has 1048772 bytes; a job file has at most 1048576"},
	{"invalid UTF-8", "label: label", "label: \xff", "job.yaml:7: this line is not UTF-8 text; save the file as UTF-8"},

	// keys
	{"unknown key with a near one", "gamma: 0.5", "gama: 0.5", "job.yaml:9: unknown key \"gama\" in kernel; did you mean \"gamma\"?"},
	{"case of a key", "{name: svc}", "{name: svc, c: 10}", "job.yaml:10: unknown key \"c\" in learner; did you mean \"C\"?"},
	{"unknown key with none near", "gamma: 0.5", "bandwidth: 0.5", "job.yaml:9: unknown key \"bandwidth\" in kernel; it may have name, gamma, gamma_unit, coef0, degree, clause, alpha, length_scale, nu"},
	{"unknown key at the top", "spec:", "status: {}\nspec:", "job.yaml:4: unknown key \"status\" in the job file; it may have apiVersion, kind, metadata, spec"},
	{"unknown key in spec", "  learner:", "  protocols: {}\n  learner:", "job.yaml:10: unknown key \"protocols\" in spec; did you mean \"protocol\"?"},
	{"very long key", "gamma: 0.5", strings.Repeat("g", 100) + ": 0.5", "job.yaml:9: unknown key \"gggggggggggggggggggggggggggggggggggggggggggggggggggggggggggg\"... in kernel; it may have name, gamma, gamma_unit, coef0, degree, clause, alpha, length_scale, nu"},
	{"key is a map", "gamma: 0.5", "? {a: b} : 0.5", "job.yaml:9: a key of kernel is a map; it must be one of name, gamma, gamma_unit, coef0, degree, clause, alpha, length_scale, nu"},
	{"key twice", "gamma: 0.5", "gamma: 0.5, gamma: 0.6", "job.yaml:9: gamma is given twice, first in line 9; keep one"},
	{"missing section", "  kernel: {name: rbf, gamma: 0.5}\n", "", "job.yaml:4: spec has no kernel; add kernel: {name: rbf, gamma: 0.5}"},
	{"missing name", "{name: small}", "{}", "job.yaml:3: metadata has no name; add name: and a short name of lower-case letters, digits and dashes"},
	{"section is a word", "{name: okra}", "okra", "job.yaml:8: protocol is \"okra\"; it must be a map with name, and the keys of that protocol"},
	{"section is empty", "{name: okra}", "", "job.yaml:8: protocol is empty; it must be a map with name, and the keys of that protocol"},

	{"job is a list", minimal, "- apiVersion: mercer/v1\n", "job.yaml:1: the job file is a list; this version takes one map with apiVersion, kind, metadata, spec"},

	// head
	{"old version", "mercer/v1", "mercer/v0", "job.yaml:1: apiVersion is \"mercer/v0\"; this version reads mercer/v1 only"},
	{"other kind", "kind: Job", "kind: Federation", "job.yaml:2: kind is \"Federation\"; this version reads Job only"},
	{"name with a space", "name: small", "name: Three Hospitals", "job.yaml:3: name \"Three Hospitals\" is not allowed; use at most 63 lower-case letters, digits and inner dashes"},
	{"name with a path", "name: small", "name: ../up", "job.yaml:3: name \"../up\" is not allowed; use at most 63 lower-case letters, digits and inner dashes"},

	// values
	{"negative seed", "spec:", "spec:\n  seed: -1", "job.yaml:5: seed is \"-1\"; write a whole number from 0 to 18446744073709551615"},
	{"seed too large", "spec:", "spec:\n  seed: 18446744073709551616", "job.yaml:5: seed is \"18446744073709551616\"; write a whole number from 0 to 18446744073709551615"},
	{"word for a number", "gamma: 0.5", "gamma: half", "job.yaml:9: gamma is \"half\", not a number; write one such as 0.5"},
	{"quoted number", "gamma: 0.5", `gamma: "0.5"`, "job.yaml:9: gamma is the text \"0.5\"; write the number without quotes"},
	{"not a number", "gamma: 0.5", "gamma: .nan", "job.yaml:9: gamma is \".nan\", not a number; write one such as 0.5"},
	{"infinite", "gamma: 0.5", "gamma: 1e999", "job.yaml:9: gamma is \"1e999\", not a number; write one such as 0.5"},
	{"empty number", "gamma: 0.5", "gamma: ", "job.yaml:9: gamma is empty; give one value or leave the key out"},

	// data
	{"no label", "source: bundled:digits\n    label: label\n", "sources: {north: a.csv, south: b.csv}\n", "job.yaml:5: data has no label; add label: and the name of the column that holds the classes"},
	{"no label of pooled data", minimal, strings.NewReplacer("okra", "pooled", "    label: label\n", "").Replace(minimal), "job.yaml:5: data has no label; add label: and the name of the column that holds the classes"},
	{"empty label", "label: label", "label:", "job.yaml:7: label is empty; give one value or leave the key out"},
	{"control character", "label: label", `label: "a\nb"`, "job.yaml:7: label is \"a\\nb\", with a character in it that does not print; remove that"},
	{"no source", "    source: bundled:digits\n", "", "job.yaml:5: data has no source; add source: bundled:digits or a file"},
	{"both sources", "label: label", "label: label\n    sources: {a: a.csv, b: b.csv}", "job.yaml:8: data has both source and sources; keep source to share one table out, or sources to give each party its own"},
	{"sources and partition", "source: bundled:digits", "sources: {a: a.csv, b: b.csv}\n    partition: {parties: [a, b]}", "job.yaml:7: partition shares out one source, and sources already names each party's; remove one"},
	{"sources and a test source", "source: bundled:digits", "sources: {a: a.csv, b: b.csv}\n    test: {source: c.csv}", "job.yaml:7: a test source is shared out with one source; beside sources use test: {fraction: 0.25}"},
	{"sources twice", "source: bundled:digits", "sources: {a: a.csv, a: b.csv}", "job.yaml:6: two parties are called \"a\"; give each its own name"},
	{"one of sources", "source: bundled:digits", "sources: {a: a.csv}", "job.yaml:6: a job needs at least two parties, and this names 1; add some"},
	{"sources is a list", "source: bundled:digits", "sources: [a.csv, b.csv]", "job.yaml:6: sources is a list; write a map such as {north: a.csv, south: b.csv}"},
	{"id is the label", "label: label", "label: label\n    id: label", "job.yaml:8: id and label are the same column \"label\"; name two columns"},
	{"scaling", "label: label", "label: label\n    scale: min-max", "job.yaml:8: unknown scaling \"min-max\"; did you mean \"minmax\"? This version has minmax, standard, none"},
	{"test fraction", "label: label", "label: label\n    test: {fraction: 1}", "job.yaml:8: fraction is 1; write a number between 0 and 1, such as 0.25"},
	{"test fraction zero", "label: label", "label: label\n    test: {fraction: 0}", "job.yaml:8: fraction is 0; write a number between 0 and 1, such as 0.25"},
	{"nearly all held out", "label: label", "label: label\n    test: {fraction: 0.999}", "job.yaml:5: fraction is 0.999; write a multiple of 0.05 from 0.05 to 0.5, such as 0.25"},
	{"nearly none held out", "label: label", "label: label\n    test: {fraction: 1e-9}", "job.yaml:5: fraction is 1e-09; write a multiple of 0.05 from 0.05 to 0.5, such as 0.25"},
	{"a fraction beside another", "label: label", "label: label\n    test: {fraction: 0.2501}", "job.yaml:5: fraction is 0.2501; write a multiple of 0.05 from 0.05 to 0.5, such as 0.25"},
	{"test every", "label: label", "label: label\n    test: {every: 1}", "job.yaml:8: every is 1; write 2 or more, such as 10 to hold out one row in ten"},
	{"test every half", "label: label", "label: label\n    test: {every: 2.5}", "job.yaml:8: every is \"2.5\", not a whole number; write one such as 3"},
	{"test both", "label: label", "label: label\n    test: {every: 10, fraction: 0.1}", "job.yaml:8: test has 2 keys; give one of fraction, every, source"},
	{"test nothing", "label: label", "label: label\n    test: {}", "job.yaml:8: test has 0 keys; give one of fraction, every, source"},
	{"test by time", "label: label", "label: label\n    test: {by: time, fraction: 0.1}", "job.yaml:5: like and by are of ratings; protocol okra has none"},

	// partition
	{"partition without parties", "label: label", "label: label\n    partition: {skew: 0.3}", "job.yaml:8: partition has no parties; add parties: [north, south]"},
	{"same name twice", "label: label", "label: label\n    partition: {parties: [north, south, north]}", "job.yaml:8: two parties are called \"north\"; give each its own name"},
	{"one party", "label: label", "label: label\n    partition: {parties: [north]}", "job.yaml:8: a job needs at least two parties, and this names 1; add some"},
	{"no party", "label: label", "label: label\n    partition: {parties: []}", "job.yaml:8: a job needs at least two parties, and this names 0; add some"},
	{"parties is a number", "label: label", "label: label\n    partition: {parties: 3}", "job.yaml:8: parties is \"3\"; write a list such as [north, south]"},
	{"party called coordinator", "label: label", "label: label\n    partition: {parties: [north, coordinator]}", "job.yaml:8: party name \"coordinator\" is reserved; choose another"},
	{"party with capitals", "label: label", "label: label\n    partition: {parties: [North, south]}", "job.yaml:8: party name \"North\" is not allowed; use at most 63 lower-case letters, digits and inner dashes"},
	{"negative skew", "label: label", "label: label\n    partition: {parties: [a, b], skew: -0.3}", "job.yaml:8: skew is -0.3; write 0 for equal shares or a number above it"},
	{"too many parties", "label: label", "label: label\n    partition: {parties: [" + manyNames(MaxParties+1) + "]}", "job.yaml:8: more than 1024 parties; that is the most a job may have"},

	// protocol
	{"unknown protocol, near", "okra", "orka", "job.yaml:8: unknown protocol \"orka\"; did you mean \"okra\"? This version has " + namesOf(reader().Protocols)},
	{"unknown protocol", "okra", "sgd", "job.yaml:8: unknown protocol \"sgd\"; this version has " + namesOf(reader().Protocols)},
	{"list of protocols", "name: okra", "name: [okra, pooled]", "job.yaml:8: name is a list; this version takes one protocol"},
	{"planned encoder", "okra", "okra, encoder: hbh", "job.yaml:8: encoder \"hbh\" is not in this version; it runs hadamard, haar, block"},
	{"unknown encoder", "okra", "okra, encoder: hadammard", "job.yaml:8: unknown encoder \"hadammard\"; did you mean \"hadamard\"? This version has hadamard, haar, block"},
	{"paper's encoder in earnest", "okra", "okra, encoder: block", "job.yaml:8: encoder block is the paper's and gives each block's Gram matrix away; use hadamard, or add mode: paper to reproduce the paper"},
	{"paper with another encoder", "okra", "okra, mode: paper, encoder: haar", "job.yaml:8: mode paper has encoder block, not haar; remove one of the two"},
	{"wire", "okra", "okra, wire: float16", "job.yaml:8: unknown wire \"float16\"; did you mean \"float32\"? This version has float32, float64"},
	{"one round", "okra", "okra, rounds: 1", "job.yaml:8: rounds is 1; write 2 to 16, since one round hides nothing"},
	{"rounds of haar", "okra", "okra, encoder: haar, rounds: 3", "job.yaml:8: encoder haar has no rounds; remove them"},
	{"pooled with an encoder", "okra", "pooled, encoder: haar", "job.yaml:8: protocol pooled has no encoder; remove it"},

	// kernel and learner
	{"unknown kernel", "rbf", "rfb", "job.yaml:9: unknown kernel \"rfb\"; did you mean \"rbf\"? This version has linear, rbf, polynomial, rational-quadratic, laplacian, matern, cosine, tanimoto, laplacian-product, conjunctive, disjunctive, dnf, cnf"},
	{"rbf without gamma", ", gamma: 0.5", "", "job.yaml:9: the rbf kernel needs gamma; add one such as gamma: 0.5, or gamma_unit: median to measure it by the data"},
	{"gamma zero", "gamma: 0.5", "gamma: 0", "job.yaml:9: gamma is 0; write a number above 0"},
	{"gamma of linear", "rbf", "linear", "job.yaml:9: the linear kernel has no gamma; remove it"},
	{"degree", "rbf, gamma: 0.5", "polynomial, gamma: 1, degree: 0", "job.yaml:9: degree is 0; write a whole number from 1 to 64"},
	{"coef0", "rbf, gamma: 0.5", "polynomial, gamma: 1, coef0: -1", "job.yaml:9: coef0 is -1; below 0 this is no kernel, so write 0 or more"},
	{"alpha", "rbf, gamma: 0.5", "rational-quadratic, alpha: -1", "job.yaml:9: alpha is -1; write a number above 0"},
	{"length_scale", "rbf, gamma: 0.5", "rational-quadratic, length_scale: 0", "job.yaml:9: length_scale is 0; write a number above 0"},
	{"nu", "rbf, gamma: 0.5", "matern, nu: 1", "job.yaml:9: nu is 1; write 0.5, 1.5 or 2.5"},
	{"nu of rbf", "gamma: 0.5", "gamma: 0.5, nu: 0.5", "job.yaml:9: the rbf kernel has no nu; remove it"},
	{"unit of gamma", "gamma: 0.5", "gamma_unit: mean", "job.yaml:9: unknown gamma_unit \"mean\"; did you mean \"median\"? This version has median, norm"},
	{"unit of linear", "rbf, gamma: 0.5", "linear, gamma_unit: norm", "job.yaml:9: the linear kernel has no gamma_unit; remove it"},
	{"unit is a list", "gamma: 0.5", "gamma_unit: [median, norm]", "job.yaml:9: gamma_unit is a list; this version takes one gamma_unit"},
	{"planned learner", "svc", "cca", "job.yaml:10: learner \"cca\" is not in this version; it runs " + namesOf(reader().Learners)},
	{"unknown learner", "svc", "svm", "job.yaml:10: unknown learner \"svm\"; did you mean \"svc\"? This version has " + namesOf(reader().Learners)},
	{"parameter of another learner", "{name: svc}", "{name: ridge, C: 1}", "job.yaml:10: learner ridge has no C; remove it"},
	{"nu of a machine", "{name: svc}", "{name: nu-svc, nu: 1.5}", "job.yaml:10: nu is 1.5; write a number above 0 and up to 1, such as 0.5"},
	{"epsilon", "{name: svc}", "{name: svr, epsilon: 0}", "job.yaml:10: epsilon is 0; write a number above 0"},
	{"tol of a regression", "{name: svc}", "{name: svr, tol: 0}", "job.yaml:10: tol is 0; write a number above 0"},
	{"ridge's alpha", "{name: svc}", "{name: ridge, alpha: -1}", "job.yaml:10: alpha is -1; write a number above 0"},
	{"noise", "{name: svc}", "{name: gp, noise: 0}", "job.yaml:10: noise is 0; write a number above 0"},
	{"n_components", "{name: svc}", "{name: kpca, n_components: 0}", "job.yaml:10: n_components is 0; write a whole number from 1"},
	{"n_clusters", "{name: svc}", "{name: kmeans, n_clusters: -2}", "job.yaml:10: n_clusters is -2; write a whole number from 1"},
	{"probability", "{name: svc}", "{name: svc, probability: maybe}", "job.yaml:10: probability is \"maybe\"; write true or false"},
	{"folds of clusters", minimal, strings.Replace(folded, "svc", "kmeans", 1), "job.yaml:5: folds go by accuracy or r2, and learner kmeans has neither; use test: {fraction: 0.25}"},
	{"list of clusters", "svc", "kmeans, n_clusters: [2, 3]", "job.yaml:10: n_clusters is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number"},
	{"list of another learner's", "svc", "ridge, C: [1, 10]", "job.yaml:10: learner ridge has no C; remove it"},
	{"skew of numbers", minimal, strings.NewReplacer("svc", "ridge", "label: label", "label: y\n    partition: {parties: [a, b], skew: 1}").Replace(minimal), "job.yaml:5: skew divides classes unevenly, and there are none here; remove it"},
	{"no numbers", minimal, strings.NewReplacer("svc", "ridge", "okra", "pooled", "    label: label\n", "").Replace(minimal), "job.yaml:5: data has no label; add label: and the name of the column that holds the numbers to predict"},
	{"none for labels", "label: label", "label: none", "job.yaml:5: learner svc needs labels; give label: the name of their column"},
	{"C zero", "{name: svc}", "{name: svc, C: 0}", "job.yaml:10: C is 0; write a number above 0"},
	{"tol", "{name: svc}", "{name: svc, tol: -1}", "job.yaml:10: tol is -1; write a number above 0 and below 2, such as 0.001"},
	{"tol too large", "{name: svc}", "{name: svc, tol: 2}", "job.yaml:10: tol is 2; write a number above 0 and below 2, such as 0.001"},
	{"balanced weights", "{name: svc}", "{name: svc, class_weight: balanced}", "job.yaml:10: class_weight: balanced is not in this version; write a map such as {malignant: 2}"},
	{"weights is a number", "{name: svc}", "{name: svc, class_weight: 2}", "job.yaml:10: class_weight is \"2\"; write a map such as {malignant: 2}"},
	{"weight zero", "{name: svc}", "{name: svc, class_weight: {a: 0}}", "job.yaml:10: the weight of class \"a\" is 0; write a number above 0"},
	{"weight twice", "{name: svc}", "{name: svc, class_weight: {a: 1, a: 2}}", "job.yaml:10: class \"a\" has two weights; keep one"},

	// grids
	{"grid without folds", "gamma: 0.5", "gamma: [0.1, 1]", "job.yaml:9: the lists make a grid of 2 cells, and without folds there is no choosing one; add folds: 5 to data, or give single numbers"},
	{"grid of C without folds", "{name: svc}", "{name: svc, C: [0.1, 1, 10]}", "job.yaml:10: the lists make a grid of 3 cells, and without folds there is no choosing one; add folds: 5 to data, or give single numbers"},
	{"one fold", "label: label", "label: label\n    folds: 1", "job.yaml:8: folds is 1; write 2 or more, such as 5, or leave it out"},
	{"no folds", "label: label", "label: label\n    folds: 0", "job.yaml:8: folds is 0; write 2 or more, such as 5, or leave it out"},
	{"list of folds", "label: label", "label: label\n    folds: [5, 10]", "job.yaml:8: folds is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number"},
	{"list of tol", "{name: svc}", "{name: svc, tol: [0.1, 0.01]}", "job.yaml:10: tol is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number"},
	{"list of seeds", "spec:", "spec:\n  seed: [1, 2]", "job.yaml:5: seed is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number"},
	{"list of names", "name: rbf", "name: [rbf, laplacian]", "job.yaml:9: name is a list; this version takes one kernel"},
	{"list of learners", "{name: svc}", "[{name: svc}]", "job.yaml:10: learner is a list; this version takes one map with name, and the keys of that learner"},
	{"empty list", "gamma: 0.5", "gamma: []", "job.yaml:9: gamma is an empty list; give one number or several"},
	{"empty list of kernels", "{name: rbf, gamma: 0.5}", "[]", "job.yaml:9: kernel is an empty list; give one map or several"},
	{"list in a list", "gamma: 0.5", "gamma: [[0.5]]", "job.yaml:9: gamma is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number"},
	{"word in a list", "gamma: 0.5", "gamma: [0.5, half]", "job.yaml:9: gamma is \"half\", not a number; write one such as 0.5"},
	{"bad number in a list", "gamma: 0.5", "gamma: [0.5, 0]", "job.yaml:9: gamma is 0; write a number above 0"},
	{"part of a degree", "rbf, gamma: 0.5", "polynomial, gamma: 1, degree: [1, 2.5]", "job.yaml:9: degree is \"2.5\", not a whole number; write one such as 3"},
	{"word in the list of kernels", "{name: rbf, gamma: 0.5}", "[rbf]", "job.yaml:9: kernel is \"rbf\"; it must be a map with name, gamma, gamma_unit, coef0, degree, clause, alpha, length_scale, nu"},
	{"number twice", "gamma: 0.5", "gamma: [0.5, 1, 5e-1]", "job.yaml:9: gamma lists \"5e-1\" twice; keep one"},
	{"kernel twice", "{name: rbf, gamma: 0.5}", "\n  - {name: linear}\n  - {name: polynomial, gamma: 1, degree: [2, 3]}\n  - {name: polynomial, gamma: 1}", "job.yaml:12: this kernel stands for one that is in the list already; give each only once"},
	{"parameter of another kernel", "{name: rbf, gamma: 0.5}", "\n  - {name: rbf, gamma: [1, 2]}\n  - {name: linear, gamma: 1}", "job.yaml:11: the linear kernel has no gamma; remove it"},
	{"list of another kernel", "rbf, gamma: 0.5", "linear, gamma: [1, 2]", "job.yaml:9: the linear kernel has no gamma; remove it"},
	{"too many numbers", "gamma: 0.5", "gamma: [" + manyNumbers(MaxCells+1) + "]", "job.yaml:9: the lists up to gamma stand for more than 1024 choices; that is the most a grid may have"},
	{"too many kernels", "rbf, gamma: 0.5", "polynomial, gamma: [" + manyNumbers(33) + "], degree: [" + manyNumbers(32) + "]", "job.yaml:9: the lists up to degree stand for more than 1024 choices; that is the most a grid may have"},
	{"too many kernels in lists", "{name: rbf, gamma: 0.5}", "\n  - {name: rbf, gamma: [" + manyNumbers(MaxCells) + "]}\n  - {name: linear}", "job.yaml:11: kernel stands for more than 1024 choices; that is the most a grid may have"},
	{"too many cells", "gamma: 0.5}\n  learner: {name: svc}", "gamma: [" + manyNumbers(41) + "]}\n  learner: {name: svc, C: [" + manyNumbers(25) + "]}", "job.yaml:9: the grid has 1025 cells; at most 1024 are allowed"},
	{"gamma twice, first a list", "gamma: 0.5", "gamma: [0.5, 1], gamma: 2", "job.yaml:9: gamma is given twice, first in line 9; keep one"},

	// the rest
	{"comparison", "spec:", "spec:\n  compare: [pooled, alon]", "job.yaml:5: unknown comparison \"alon\"; did you mean \"alone\"? This version has pooled, alone, curve, exact-kernel"},
	{"comparison twice", "spec:", "spec:\n  compare: [alone, alone]", "job.yaml:5: compare names alone twice; keep one"},
	{"comparison is a word", "spec:", "spec:\n  compare: alone", "job.yaml:5: compare is \"alone\"; write a list such as [pooled, alone, curve, exact-kernel]"},
	{"prediction", "spec:", "spec:\n  prediction: public", "job.yaml:5: unknown prediction \"public\"; this version has closed, open"},
	{"timeout without a unit", "spec:", "spec:\n  timeout: {join: 60}", "job.yaml:5: join is \"60\"; write a time above zero and up to 720h, such as 90s or 10m"},
	{"timeout below zero", "spec:", "spec:\n  timeout: {round: -1s}", "job.yaml:5: round is \"-1s\"; write a time above zero and up to 720h, such as 90s or 10m"},
	{"timeout for ever", "spec:", "spec:\n  timeout: {round: 9000h}", "job.yaml:5: round is \"9000h\"; write a time above zero and up to 720h, such as 90s or 10m"},
}

func TestBadJobs(t *testing.T) {
	for _, c := range badJobs {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(minimal, c.old, c.bad, 1)
			if text == minimal {
				t.Fatal("nothing is wrong with this job")
			}
			j, err := reader().Parse("job.yaml", []byte(text))
			if err == nil {
				t.Fatalf("accepted:\n%s", text)
			}
			if j != nil {
				t.Error("a job beside an error")
			}
			if err.Error() != c.want {
				t.Errorf("\n got %q\nwant %q", err, c.want)
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

// badMoments are what protocol moments refuses.
var badMoments = []struct{ name, old, bad, want string }{
	{"mode", "{name: moments,", "{name: moments, mode: paper,", "job.yaml:6: protocol moments has no mode paper; remove it"},
	{"encoder", "{name: moments,", "{name: moments, encoder: haar,", "job.yaml:6: protocol moments has no encoder; remove it"},
	{"odd", "64", "63", "job.yaml:6: directions is 63; write an even number from 2 to 4096, or leave it out for a twentieth of all training rows"},
	{"none", "64", "0", "job.yaml:6: directions is 0; write an even number from 2 to 4096, or leave it out for a twentieth of all training rows"},
	{"too many", "64", "4098", "job.yaml:6: directions is 4098; write an even number from 2 to 4096, or leave it out for a twentieth of all training rows"},
	{"no classes", `, classes: [-1, "+1", two words]`, "", "job.yaml:6: learner ridge-classifier needs all classes, which no party knows alone; add classes: [ill, well] to protocol"},
	{"one class", `-1, "+1", two words`, "-1", "job.yaml:6: classes has 1; give two or more"},
	{"class twice", `"+1"`, `"-1"`, "job.yaml:6: classes names \"-1\" twice; keep one"},
	{"empty class", `"+1"`, `""`, "job.yaml:6: one of classes is empty; give one value or leave the key out"},
	{"a word", `[-1, "+1", two words]`, "3", "job.yaml:6: classes is \"3\"; write a list such as [ill, well]"},
	{"learner", "ridge-classifier, alpha: [0.1, 1, 10]", "svc", "job.yaml:8: protocol moments runs learner ridge-classifier, ridge, gp or kpca, not svc"},
	{"alpha", "[0.1, 1, 10]", "[0.1, 0]", "job.yaml:8: alpha is 0; write a number above 0"},
	{"too many weights", "64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "4096}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: kpca, n_components: 2049}", "job.yaml:8: 2049 components of 4096 directions are more than 8388608 weights; give fewer"},
	{"deviations of classes", "directions: 64,", "directions: 64, deviations: true,", "job.yaml:6: learner ridge-classifier has no deviations; remove them from protocol"},
	{"kernel", "rbf, gamma: 0.5", "linear", "job.yaml:7: protocol moments needs one kernel, rbf or laplacian, with a plain gamma"},
	{"two kernels", "0.5", "[0.5, 1]", "job.yaml:7: protocol moments needs one kernel, rbf or laplacian, with a plain gamma"},
	{"unit", "gamma: 0.5", "gamma_unit: median", "job.yaml:7: protocol moments needs one kernel, rbf or laplacian, with a plain gamma"},
	{"folds", "label: label", "label: label, folds: 5", "job.yaml:5: protocol moments chooses by the sums of all training rows, not by folds; use test: {fraction: 0.25}"},
	{"compare", "spec:", "spec:\n  compare: [pooled]", "job.yaml:5: protocol moments is compared with other numbers of directions only in this version; use compare: [curve], or remove it"},
	{"no range", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge}", "job.yaml:6: learner ridge needs the range of all labels, which no party knows alone; add targets: [0, 100] to protocol"},
	{"a range upside down", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64, targets: [1, 0]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: gp}", "job.yaml:6: targets is [1, 0]; write the smaller number first"},
	{"too wide a range", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64, targets: [-1.7e308, 1.7e308]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: gp}", "job.yaml:6: targets is [-1.7e+308, 1.7e+308], which is too wide; change the unit"},
	{"one number", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64, targets: [1]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: gp}", "job.yaml:6: targets is a list; write two numbers such as [0, 100]"},
	{"words", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64, targets: [low, high]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: gp}", "job.yaml:6: one of targets is \"low\", not a number; write one such as 0.5"},
	{"range of classes", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64, classes: [a, b], targets: [0, 1]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier}", "job.yaml:6: learner ridge-classifier has no targets; remove them from protocol"},
	{"classes of numbers", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64, classes: [a, b], targets: [0, 1]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge}", "job.yaml:6: learner ridge has no classes; remove them from protocol"},
	{"many components", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: moments, directions: 64}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: kpca, n_components: 65}", "job.yaml:8: 65 components of 64 directions; ask for at most as many"},
	{"curve of numbers", "spec:\n  data: {source: bundled:digits, label: label}\n" + "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "spec:\n  compare: [curve]\n  data: {source: bundled:digits, label: label}\n  protocol: {name: moments, targets: [0, 1]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge}", "job.yaml:5: the curve is one of accuracy, and learner ridge has none; remove compare"},
	{"no protocol for it", `{name: moments, directions: 64, classes: [-1, "+1", two words]}`, "{name: okra}", "job.yaml:8: the lists make a grid of 3 cells, and without folds there is no choosing one; add folds: 5 to data, or give single numbers"},
	{"nor without lists", "  protocol: {name: moments, directions: 64, classes: [-1, \"+1\", two words]}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: ridge-classifier, alpha: [0.1, 1, 10]}", "  protocol: {name: okra}\n  kernel: {name: linear}\n  learner: {name: ridge-classifier}", "job.yaml:8: learner ridge-classifier runs with protocol moments only; use svc"},
}

func TestBadMoments(t *testing.T) {
	for _, c := range badMoments {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(moments, c.old, c.bad, 1)
			if text == moments {
				t.Fatal("nothing is wrong with this job")
			}
			if _, err := reader().Parse("job.yaml", []byte(text)); err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %v", err, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range variants() {
		f.Add([]byte(text))
	}
	for _, c := range badJobs {
		if len(c.bad) < 4096 {
			f.Add([]byte(strings.Replace(minimal, c.old, c.bad, 1)))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := reader().Parse("job.yaml", data)
		var e *Error
		switch {
		case err == nil:
			checkRoundTrip(t, j)
		case !errors.As(err, &e) || e.Line < 1 || e.Line > strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+2:
			t.Errorf("an error without a line of the file: %q", err)
		}
	})
}

// manyNames returns n different party names as a YAML list without brackets.
func manyNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i)
	}
	return strings.Join(names, ", ")
}

// manyNumbers returns the numbers from 1 to n as a YAML list without brackets.
func manyNumbers(n int) string {
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(numbers, ", ")
}
