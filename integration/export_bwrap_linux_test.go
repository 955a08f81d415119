package integration

import (
	"path/filepath"
	"testing"
)

// TestExportBwrap: the exported script starts the program under Debian's bubblewrap; what the policy allows works, and nothing else.
func TestExportBwrap(t *testing.T) {
	eachExported(t, func(t *testing.T, s exported) {
		tool(t, "bwrap")
		r := s.export(t, "bwrap", "-o", s.folder)
		s.noValues(t, r)
		judge(t, s.start(t, filepath.Join(s.folder, "run")), exportSayable, nil)
	})
}
