package kernel

import (
	"fmt"
	"strconv"
	"strings"
)

// Spec specifies a kernel in a job file or a model. A zero parameter means its default, if it has one; a
// parameter that the kernel does not take is refused.
type Spec struct {
	Name        string  `yaml:"name" json:"name"`
	Gamma       float64 `yaml:"gamma,omitempty" json:"gamma,omitempty"`               // for rbf, polynomial, laplacian: > 0, no default
	Coef0       float64 `yaml:"coef0,omitempty" json:"coef0,omitempty"`               // for polynomial: >= 0, default 0
	Degree      int     `yaml:"degree,omitempty" json:"degree,omitempty"`             // for polynomial: 1 to 64, default 3
	LengthScale float64 `yaml:"length_scale,omitempty" json:"length_scale,omitempty"` // for rational-quadratic, matern: > 0, default 1
	Alpha       float64 `yaml:"alpha,omitempty" json:"alpha,omitempty"`               // for rational-quadratic: > 0, default 1
	Nu          float64 `yaml:"nu,omitempty" json:"nu,omitempty"`                     // for matern: 0.5, 1.5 or 2.5, default 1.5
	// Amplitude multiplies the kernels rbf and rational-quadratic. It is above 0; the default is 1.
	Amplitude float64 `yaml:"amplitude,omitempty" json:"amplitude,omitempty"`
	// Coefficients lists the factors of the powers of x.z in the dot-product kernel, from the
	// constant on. It has 2 to 65 numbers, none below 0, the last above 0, and no default.
	Coefficients []float64 `yaml:"coefficients,omitempty,flow" json:"coefficients,omitempty"`
}

// New returns the kernel that s specifies, or an error if s is invalid.
func New(s Spec) (Kernel, error) {
	s, f, err := s.complete()
	if err != nil {
		return nil, err
	}
	k := f.build(s)
	if s.Amplitude == 0 || s.Amplitude == 1 { // 0 means that the kernel has no amplitude
		return k, nil
	}
	return amplified{k, s.Amplitude}, nil
}

// Canonical returns a text that is the same for all spellings of a kernel and lists all of its
// parameters, such as "polynomial gamma=1 coef0=0 degree=3". Only an amplitude of 1 is left out, so
// that descriptions from before amplitudes existed stay canonical. [Parse] reads numbers back with
// the same bits. Canonical returns the errors of [New].
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

// maxCanonical is the greatest length of a text that Parse reads. The text of a kernel is shorter.
const maxCanonical = 2048

// Parse reads a kernel in the form that [Spec.Canonical] writes. It refuses other spellings and
// parameters out of range.
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

// set sets a parameter, given as "name=value".
func (s *Spec) set(field string) error {
	name, value, _ := strings.Cut(field, "=")
	if name == coefficients {
		return s.setCoefficients(value)
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("kernel: the value of parameter %q is not a number: %w", field, err)
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
