package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// SVMTrain is the name of LIBSVM's program, the only peer so far.
const SVMTrain = "svm-train"

// Peer is another program that does the same work. The zero value stands for no program.
type Peer struct{ path string }

// FindPeer returns the peer of that name; "" stands for no peer. It fails when the name is
// unknown and, with ErrNoPeer, when the program is not installed.
func FindPeer(name string) (Peer, error) {
	switch name {
	case "":
		return Peer{}, nil
	case SVMTrain:
		path, err := exec.LookPath(SVMTrain)
		if err != nil {
			return Peer{}, fmt.Errorf("bench: %w: %s; on Debian: apt-get install libsvm-tools", ErrNoPeer, SVMTrain)
		}
		return Peer{path}, nil
	}
	return Peer{}, fmt.Errorf("bench: no peer is called %q; use %s", name, SVMTrain)
}

// ErrNoPeer reports that a program to compare with is not installed.
var ErrNoPeer = errors.New("the program to compare with is not installed")

// svmReport holds the final figures of a training, ours or the peer's.
type svmReport struct {
	objective float64
	support   int
	peak      float64 // bytes of memory; ours only: the count of a child begins with its parent's
}

// train runs svm-train: C-SVC, RBF, one core, as that program does. cacheMB
// bounds the kernel values that it keeps.
func (p Peer) train(ctx context.Context, t svmTask, data, model string) (svmReport, error) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	cmd := exec.CommandContext(ctx, p.path, "-s", "0", "-t", "2",
		"-g", number(t.gamma), "-c", number(t.c), "-e", number(t.tol), data, model)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return svmReport{}, errors.Join(ctx.Err(), fmt.Errorf("%s: %w: %s", SVMTrain, err, bytes.TrimSpace(complaint.Bytes())))
	}
	return parseSVMTrain(out.Bytes())
}

// The lines of svm-train that matter:
//
//	obj = -5432.109876, rho = 0.123456
//	Total nSV = 6789
var (
	objectiveLine = regexp.MustCompile(`(?m)^obj = (\S+), rho = `)
	supportLine   = regexp.MustCompile(`(?m)^Total nSV = (\d+)$`)
)

// parseSVMTrain reads the output of svm-train about a problem of two classes.
func parseSVMTrain(out []byte) (svmReport, error) {
	objective, support := objectiveLine.FindAllSubmatch(out, -1), supportLine.FindAllSubmatch(out, -1)
	if len(objective) != 1 || len(support) != 1 {
		return svmReport{}, fmt.Errorf("%s printed %d objectives and %d counts of support vectors, expected one of each; is it LIBSVM's?", SVMTrain, len(objective), len(support))
	}
	o, err := strconv.ParseFloat(string(objective[0][1]), 64)
	if err != nil {
		return svmReport{}, fmt.Errorf("%s printed an objective that is no number: %w", SVMTrain, err)
	}
	n, err := strconv.Atoi(string(support[0][1]))
	if err != nil {
		return svmReport{}, fmt.Errorf("%s printed a count of support vectors that is no number: %w", SVMTrain, err)
	}
	return svmReport{objective: o, support: n}, nil
}
