package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	account "os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pageOf is what the world's web servers say: which host was meant, and what was asked for.
func pageOf(out http.ResponseWriter, in *http.Request) {
	fmt.Fprintf(out, "%s %s\n", in.Host, in.URL.Path)
}

// web serves pages at an address of the world.
func (w *world) web(t testing.TB, address string, pages http.Handler) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, pages)
}

// secureWeb serves pages over TLS, for these names. It gives the certificate of the authority that vouches for it.
func (w *world) secureWeb(t testing.TB, address string, pages http.Handler, names ...string) string {
	t.Helper()
	issue := func(c, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
		c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
		must(t, err)
		return der
	}
	keys := [2]*ecdsa.PrivateKey{}
	for i := range keys {
		var err error
		keys[i], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(t, err)
	}
	authority := &x509.Certificate{Subject: pkix.Name{CommonName: "an authority of the tests"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, SubjectKeyId: []byte{1}}
	root := issue(authority, authority, keys[0], keys[0])
	leaf := issue(&x509.Certificate{Subject: pkix.Name{CommonName: names[0]}, DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, authority, keys[1], keys[0])
	l, err := tls.Listen("tcp", address, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf, root}, PrivateKey: keys[1]}}})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, pages)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}))
}

// gitServer serves the repositories of a folder over smart http.
func gitServer(t testing.TB, folder string) http.Handler {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	must(t, err)
	return &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(out)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
}

// service starts a server that is a program of its own, as a user that is not root, in a folder of its own.
func (w *world) service(t testing.TB, argv []string) {
	t.Helper()
	cmd := servant(argv)
	log, err := os.Create(filepath.Join(w.dir, filepath.Base(argv[0])+".log"))
	must(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	log.Close()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait()
		if b, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s said\n%s", argv[0], b)
		}
	})
}

// servant is a command as the user that servers run as.
func servant(argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid, gid, ok := servantID(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return cmd
}

// servantID is nobody's number, which needs a line in passwd for initdb; false where the tests are no root.
func servantID() (uid, gid uint32, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	who, err := account.Lookup("nobody")
	if err != nil {
		return 65534, 65534, true
	}
	u, _ := strconv.ParseUint(who.Uid, 10, 32)
	g, _ := strconv.ParseUint(who.Gid, 10, 32)
	return uint32(u), uint32(g), true
}

// servantFolder is a folder of the world that such a server may write and everybody may enter.
func (w *world) servantFolder(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(w.dir, name)
	must(t, os.Mkdir(dir, 0o755))
	if uid, gid, ok := servantID(); ok {
		must(t, os.Chown(dir, int(uid), int(gid)))
	}
	return dir
}

// answers waits until somebody listens at the address.
func answers(t testing.TB, network, address string) {
	t.Helper()
	until(t, "somebody listens at "+address, func() bool {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}
