package method

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// plain is a result without its methods.
type plain Result

// MarshalJSON writes the details' keys beside the common ones.
func (r *Result) MarshalJSON() ([]byte, error) {
	common, err := json.Marshal((*plain)(r))
	if err != nil || r.Details == nil {
		return common, err
	}
	own, err := json.Marshal(r.Details)
	if err != nil {
		return nil, err
	}
	if len(own) < 2 || own[0] != '{' {
		return nil, fmt.Errorf("method: the details of a result are %.20s and no object", own)
	}
	if own = bytes.TrimSpace(own[1 : len(own)-1]); len(own) == 0 {
		return common, nil
	}
	return append(append(common[:len(common)-1], ','), append(own, '}')...), nil
}

// UnmarshalJSON keeps the keys that are not common as details.
func (r *Result) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	t := reflect.TypeFor[Result]()
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		delete(all, key)
	}
	if len(all) == 0 {
		return nil
	}
	own, err := json.Marshal(all)
	r.Details = json.RawMessage(own)
	return err
}

// DetailsOf reads what only a method's results have: as the method left it, or as it was
// read back. nil where there is nothing.
func DetailsOf[T any](r *Result) (*T, error) {
	switch d := r.Details.(type) {
	case *T:
		return d, nil
	case json.RawMessage:
		own := new(T)
		return own, json.Unmarshal(d, own)
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("method: details of another method: %T", r.Details)
}
