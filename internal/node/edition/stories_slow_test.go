//go:build slow

package edition

import "testing"

func TestManyStoriesTellNoFew(t *testing.T) { tellNoFew(t, 120, 6000) }
