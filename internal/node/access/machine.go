package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
)

// Machine tells machines apart: the digest of the id that a machine keeps, then, after a slash, that of the id of
// its present boot. Either can be empty, since only Linux has these ids, and many containers have only the second.
// The digests differ between federations, so that they tell nothing outside their own.
type Machine string

// machineFile has the id that a Linux machine keeps, and bootFile that of its present boot, which it shares with all
// its containers.
const (
	machineFile = "/etc/machine-id"
	bootFile    = "/proc/sys/kernel/random/boot_id"
)

// ThisMachine returns the machine of this process as a federation knows it.
func ThisMachine(federation string) Machine { return machineOf(federation, machineFile, bootFile) }

func machineOf(federation, machine, boot string) Machine {
	return Machine(digestOf(federation, machine) + "/" + digestOf(federation, boot))
}

// digestOf returns a digest of the id in a file, or "" if the file has none.
func digestOf(federation, path string) string {
	id, err := os.ReadFile(path)
	text := strings.TrimSpace(string(id))
	if err != nil || text == "" || text == "uninitialized" { // so systemd says before a machine's first boot
		return ""
	}
	mac := hmac.New(sha256.New, []byte(text))
	mac.Write([]byte("mercer/v1/machine/" + federation))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// MayBe reports whether two machines may be one. They are certainly two only if both keep an id, these ids differ,
// and they are not in one boot: a container can have an id of its own. Different boots alone say nothing, since a
// machine can be restarted between two looks at it. Two machines count as one if both were made from one image
// that has a machine id in it.
func (m Machine) MayBe(o Machine) bool {
	kept, boot, _ := strings.Cut(string(m), "/")
	otherKept, otherBoot, _ := strings.Cut(string(o), "/")
	if kept == "" || otherKept == "" {
		return true
	}
	return kept == otherKept || boot != "" && boot == otherBoot
}
