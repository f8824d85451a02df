package secvm

import (
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// SeedsOf returns the seeds of the device with a row, where one seed fixes the draws of all
// devices: in simulations, and where real devices are compared with one.
func SeedsOf(seed func(label string) [32]byte, row int) secvm.Seeds {
	return drawn(func(label string) [32]byte { return seed(fmt.Sprintf("%s/%d", label, row)) })
}

// drawn returns the seeds that a device draws.
func drawn(draw func(label string) [32]byte) secvm.Seeds {
	return secvm.Seeds{Role: draw("role"), Own: draw("device")}
}

// Features names the features of a row: the numbers, from 1, of the columns
// that are not zero. Devices hash the names, or leave them as they are.
func Features(t dataset.Table, row int) []string {
	var names []string
	t.Each(row, func(col int, value float64) {
		if value != 0 {
			names = append(names, strconv.Itoa(col+1))
		}
	})
	return names
}
