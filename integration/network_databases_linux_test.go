package integration

import (
	"errors"
	"os"
	"os/exec"
	account "os/user"
	"path/filepath"
	"strconv"
	"testing"
)

// postgres starts a real server that trusts everybody, at the address and at a socket in the folder, and gives the folder of its programs.
func (w *world) postgres(t testing.TB, address, folder string) (programs string) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	must(t, err)
	if len(found) == 0 {
		ledger.Need(t, "postgresql", errors.New("no /usr/lib/postgresql/*/bin"))
	}
	_, err = account.LookupId(strconv.Itoa(os.Getuid())) // initdb wants a name for its user
	ledger.Need(t, "postgresql", err)
	programs = found[len(found)-1]
	data := filepath.Join(folder, "data")
	initdb := servant([]string{filepath.Join(programs, "initdb"), "-D", data, "-A", "trust", "-U", "tester", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8"})
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	must(t, os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte("local all all trust\nhost all all 0.0.0.0/0 trust\n"), 0o600))
	w.service(t, []string{filepath.Join(programs, "postgres"), "-D", data, "-h", address, "-p", "5432", "-k", folder, "-c", "fsync=off",
		"-c", "shared_buffers=16MB", "-c", "dynamic_shared_memory_type=mmap", "-c", "autovacuum=off"})
	answers(t, "tcp", address+":5432")
	return programs
}

// redis starts a real server.
func (w *world) redis(t testing.TB, address, folder string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	ledger.Need(t, "redis", err)
	w.service(t, []string{path, "--bind", address, "--port", "6379", "--unixsocket", filepath.Join(folder, "redis.sock"), "--unixsocketperm", "777",
		"--save", "", "--appendonly", "no", "--dir", folder, "--protected-mode", "no"})
	answers(t, "tcp", address+":6379")
}

// TestNetworkDatabases: real servers are reached by real clients, over TCP by their name and over the socket that a rule names.
func TestNetworkDatabases(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("db.test", fixed("192.0.2.20"))
		w.names.set("cache.test", fixed("192.0.2.21"))
		pg, rd := w.servantFolder(t, "pg"), w.servantFolder(t, "rd")
		psql := filepath.Join(w.postgres(t, "192.0.2.20", pg), "psql")
		w.redis(t, "192.0.2.21", rd)
		const db, cache = `"db.test:5432" = "connect"`, `"cache.test:6379" = "connect"`
		select1 := []string{"-XAt", "-U", "tester", "-d", "postgres", "-c", "select 6 * 7"}
		pgSocket, rdSocket := filepath.Join(pg, ".s.PGSQL.5432"), filepath.Join(rd, "redis.sock")
		for _, path := range []string{pgSocket, rdSocket} {
			until(t, "the server has its socket", func() bool { _, err := os.Stat(path); return err == nil })
		}
		unixRule := func(path string) string { return "\"unix:" + path + "\" = \"connect\"\n" }
		ventures(t, w, []outing{
			{name: "psql", program: "runs.py", words: append([]string{psql, "-h", "db.test"}, select1...), net: []string{db}, asked: []string{"db.test"}, out: "0 42\n"},
			{name: "psql by socket", program: "runs.py", words: append([]string{psql, "-h", pg}, select1...), rules: unixRule(pgSocket), out: "0 42\n"},
			{name: "psycopg2", program: "rows.py", words: []string{"host=db.test user=tester dbname=postgres"}, needs: []string{"psycopg2"},
				net: []string{db}, asked: []string{"db.test"}, out: "500 124750 True\n"},
			{name: "psycopg2 by socket", program: "rows.py", words: []string{"host=" + pg + " user=tester dbname=postgres"}, needs: []string{"psycopg2"},
				rules: unixRule(pgSocket), out: "500 124750 True\n"},
			{name: "redis-cli", program: "runs.py", words: []string{"redis-cli", "-h", "cache.test", "echo", "here"}, net: []string{cache}, asked: []string{"cache.test"}, out: "0 here\n"},
			{name: "redis by its socket", program: "keys.py", words: []string{rdSocket}, rules: unixRule(rdSocket), out: "SET +OK \nAPPEND :6 \nGET $6 values\nDEL :1 \n"},
			{name: "redis from Python", program: "keys.py", words: []string{"cache.test", "6379"}, net: []string{cache}, asked: []string{"cache.test"},
				out: "SET +OK \nAPPEND :6 \nGET $6 values\nDEL :1 \n"},
		})
	})
}
