package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// inFolder creates a folder with its parents and calls write. If write fails, inFolder removes those of
// the created folders that are empty.
func inFolder(path string, write func() error) error {
	created, err := missingFolders(path)
	if err != nil {
		return notAFolder(path, err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return notAFolder(path, errors.Join(err, removeEmpty(created)))
	}
	if err := write(); err != nil {
		return errors.Join(err, removeEmpty(created))
	}
	return nil
}

// notAFolder returns the error that results cannot be written to a path.
func notAFolder(path string, err error) error {
	return usage("--out %s cannot be the results folder: %w", path, err)
}

// missingFolders lists the folders on a path that do not exist, the deepest first.
func missingFolders(path string) (list []string, err error) {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return list, err
		}
		if list = append(list, path); path == filepath.Dir(path) {
			return list, nil
		}
		path = filepath.Dir(path)
	}
}

// removeEmpty removes folders, the deepest first, up to the first that has content.
func removeEmpty(folders []string) error {
	for _, path := range folders {
		content, err := os.ReadDir(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was not created
		}
		if err != nil || len(content) > 0 {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
