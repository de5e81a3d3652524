// For each archive of a directory: the SHA-256 of its names and contents, or that it is refused.
package main

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

func digest(path string) (string, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	sort.Slice(archive.File, func(i, j int) bool { return archive.File[i].Name < archive.File[j].Name })
	whole := sha256.New()
	for _, file := range archive.File {
		if strings.HasSuffix(file.Name, "/") {
			continue
		}
		reader, err := file.Open()
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(content)
		whole.Write([]byte(file.Name + "\x00"))
		whole.Write(sum[:])
	}
	return fmt.Sprintf("%x", whole.Sum(nil)), nil
}

func main() {
	entries, _ := os.ReadDir(os.Args[1])
	for _, entry := range entries {
		text, err := digest(filepath.Join(os.Args[1], entry.Name()))
		if err != nil {
			text = fmt.Sprintf("refused: %v", err)
		}
		fmt.Println(entry.Name(), text)
	}
}
