package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// inFolder creates a folder with its parents and calls write. If write fails, inFolder removes what it has created:
// the folder with its content, and the parents that are empty.
func inFolder(path string, write func() error) error {
	created, err := missingFolders(path)
	if err != nil {
		return notAFolder(path, err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return notAFolder(path, errors.Join(err, removeEmpty(created)))
	}
	if err := write(); err != nil {
		if created != nil {
			err = errors.Join(err, os.RemoveAll(path)) // half a result looks like one
		}
		return errors.Join(err, removeEmpty(created))
	}
	return nil
}

// notAFolder returns the error that results cannot be written to a path.
func notAFolder(path string, err error) error {
	if _, why := existing(path); why != nil {
		err = why
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = fmt.Errorf("no file can be written there (%w); choose another folder", p.Err)
	}
	return usage("--out %s cannot be the results folder: %w", path, err)
}

// unwritable returns the error that a file which the user names cannot be written.
func unwritable(path string, err error) error {
	if folder := filepath.Dir(path); !exists(folder) {
		return usage("%s cannot be written, since there is no folder %s; make the folder, or choose another", path, folder)
	}
	return usage("%s cannot be written: %w", path, err)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
