package kernel

import (
	"fmt"
	"strconv"
	"strings"
)

// Spec describes a kernel in a job file or a model. A zero parameter means its
// default; a parameter that the kernel does not take is refused.
type Spec struct {
	Name        string  `yaml:"name" json:"name"`
	Gamma       float64 `yaml:"gamma,omitempty" json:"gamma,omitempty"`               // rbf, polynomial, laplacian: > 0, no default
	Coef0       float64 `yaml:"coef0,omitempty" json:"coef0,omitempty"`               // polynomial: >= 0, default 0
	Degree      int     `yaml:"degree,omitempty" json:"degree,omitempty"`             // polynomial: 1 to 64, default 3
	LengthScale float64 `yaml:"length_scale,omitempty" json:"length_scale,omitempty"` // rational-quadratic, matern: > 0, default 1
	Alpha       float64 `yaml:"alpha,omitempty" json:"alpha,omitempty"`               // rational-quadratic: > 0, default 1
	Nu          float64 `yaml:"nu,omitempty" json:"nu,omitempty"`                     // matern: 0.5, 1.5 or 2.5, default 1.5
	// Amplitude multiplies rbf and rational-quadratic: > 0, default 1.
	Amplitude float64 `yaml:"amplitude,omitempty" json:"amplitude,omitempty"`
	// Coefficients lists the factors of the powers of x.z in dot-product, from the constant on: 2 to
	// 65 numbers, none below 0, the last above 0; no default.
	Coefficients []float64 `yaml:"coefficients,omitempty,flow" json:"coefficients,omitempty"`
}

// New returns the kernel that s describes, or an error if s is invalid.
func New(s Spec) (Kernel, error) {
	s, f, err := s.complete()
	if err != nil {
		return nil, err
	}
	k := f.build(s)
	if s.Amplitude == 0 || s.Amplitude == 1 { // 0: the kernel takes none
		return k, nil
	}
	return amplified{k, s.Amplitude}, nil
}

// Canonical returns the same text for all spellings of a kernel, with all of its parameters:
// "polynomial gamma=1 coef0=0 degree=3". Only an amplitude of 1 is left out, so that descriptions
// from before amplitudes existed stay canonical. [Parse] reads numbers back with the same bits.
// It returns the errors of [New].
func (s Spec) Canonical() (string, error) {
	s, f, err := s.complete()
	if err != nil {
		return "", err
	}
	text := f.name
	for _, p := range parameters() {
		if f.takesParameter(p.name) && !(p.name == amplitude && s.Amplitude == 1) {
			text += " " + p.name + "=" + number(p.get(s))
		}
	}
	if f.takesParameter(coefficients) {
		list := make([]string, len(s.Coefficients))
		for i, v := range s.Coefficients {
			list[i] = number(v)
		}
		text += " " + coefficients + "=" + strings.Join(list, ",")
	}
	return text, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// maxCanonical bounds the text that Parse reads; the text of a kernel is shorter.
const maxCanonical = 2048

// Parse reads the output of [Spec.Canonical] only: it refuses other spellings and parameters out
// of range.
func Parse(text string) (Spec, error) {
	if len(text) > maxCanonical {
		return Spec{}, fmt.Errorf("kernel: the description has %d bytes; at most %d are allowed", len(text), maxCanonical)
	}
	name, rest, _ := strings.Cut(text, " ")
	s := Spec{Name: name}
	for field := range strings.FieldsSeq(rest) {
		if err := s.set(field); err != nil {
			return Spec{}, err
		}
	}
	canonical, err := s.Canonical()
	if err != nil {
		return Spec{}, err
	}
	if canonical != text {
		return Spec{}, fmt.Errorf("kernel: the description %q is not canonical; it should read %q", text, canonical)
	}
	return s, nil
}

// set reads one "name=value".
func (s *Spec) set(field string) error {
	name, value, _ := strings.Cut(field, "=")
	if name == coefficients {
		return s.setCoefficients(value)
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("kernel: parameter %q: %w", field, err)
	}
	for _, p := range parameters() {
		if p.name == name {
			p.set(s, v)
			return nil
		}
	}
	return fmt.Errorf("kernel: %q is not a parameter of any kernel", name)
}

// setCoefficients reads "0,1,0.5".
func (s *Spec) setCoefficients(list string) error {
	for text := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("kernel: one of the %s is not a number: %w", coefficients, err)
		}
		s.Coefficients = append(s.Coefficients, v)
	}
	return nil
}
