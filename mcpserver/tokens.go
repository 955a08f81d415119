package mcpserver

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// Tokens are who may call over HTTP: a file with a line NAME SHA256 for each token, empty lines and lines with # left out. The tokens themselves
// stand nowhere.
type Tokens struct {
	file string
	list atomic.Pointer[[]token]
}

type token struct {
	name string
	sum  [sha256.Size]byte
}

// ReadTokens reads the file for the first time.
func ReadTokens(file string) (*Tokens, error) {
	t := &Tokens{file: file}
	return t, t.Reload()
}

// Reload reads the file again. On an error those that were read before stay.
func (t *Tokens) Reload() error {
	f, err := os.Open(t.file)
	if err != nil {
		return err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil {
		return err
	} else if fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others may write it (chmod go-w)", t.file)
	}
	list, err := parseTokens(t.file, f)
	if err != nil {
		return err
	}
	t.list.Store(&list)
	return nil
}

// parseTokens reads all of a file's text: one bad line is an error, and so is none.
func parseTokens(file string, text io.Reader) ([]token, error) {
	var list []token
	names := map[string]bool{}
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		sum, err := hex.DecodeString(words[len(words)-1])
		if len(words) != 2 || err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("%s:%d: NAME and the SHA-256 of a token in hexadecimal are needed", file, n)
		}
		if !clientName(words[0]) || names[words[0]] {
			return nil, fmt.Errorf("%s:%d: a name of its own, of letters, digits and . _ -, is needed", file, n)
		}
		names[words[0]] = true
		list = append(list, token{words[0], [sha256.Size]byte(sum)})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no token", file)
	}
	return list, nil
}

// clientName: what may stand in messages and metrics as it is. "local" is nobody's.
func clientName(s string) bool {
	return len(s) <= 64 && s != localClient && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
}

// verify finds the client of a token. Every line is compared, each in constant time.
func (t *Tokens) verify(_ context.Context, given string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(given))
	name := ""
	for _, k := range *t.list.Load() {
		if subtle.ConstantTimeCompare(sum[:], k.sum[:]) == 1 {
			name = k.name
		}
	}
	if name == "" {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: name, Scopes: []string{tokenScope}}, nil
}

// tokenScope is what every token may do.
const tokenScope = "run"
