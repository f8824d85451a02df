package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// always are the variables that every program is given, where this process has them.
var always = []string{"HOME", "LANG"}

// environment returns the variables of a program. All others stay here: one may hold the password
// of another table.
func (c Command) environment(mark string) ([]string, error) {
	env := []string{mark, "PATH=" + searchPath(os.Getenv("PATH"))}
	for _, name := range always {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range c.Env {
		value, ok := os.LookupEnv(name)
		if !ok {
			return nil, fmt.Errorf("%s is to be given %s, which is not set; set it, or leave it out of env", c.Args[0], name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// searchPath returns the folders of a path in which nobody else may put a program.
func searchPath(path string) string {
	var list []string
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if found, err := trusted.Folder(folder); err == nil {
			list = append(list, found)
		}
	}
	return strings.Join(list, string(filepath.ListSeparator))
}
