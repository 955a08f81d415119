package landlock

import "testing"

func TestForFileKeepsOnlyRightsOfFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Access
		want Access
	}{
		{"tree loses its folder rights", WriteTree, FSWriteFile | FSReadFile | FSTruncate},
		{"read tree", ReadTree, FSReadFile},
		{"list", ListDir, 0},
		{"device stays", Device, Device},
		{"exec stays", ExecFile, FSExecute | FSReadFile},
		{"socket stays", Socket, FSResolveUnix},
		{"making names", MakeIn, 0},
	} {
		if got := ForFile(c.in); got != c.want {
			t.Errorf("%s: ForFile(%v) = %v, want %v", c.name, c.in, got, c.want)
		}
	}
}

func TestSetsPrintKernelNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{ReadTree.String(), "read_file,read_dir"},
		{Access(0).String(), "none"},
		{(FSResolveUnix | 1<<40).String(), "resolve_unix,1<<40"},
		{TCP.String(), "bind_tcp,connect_tcp"},
		{UDP.String(), "bind_udp,connect_send_udp"},
		{(ScopeSignal | ScopeAbstractUnixSocket).String(), "abstract_unix_socket,signal"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// No composite right may smuggle in making device nodes, executing, or reaching sockets.
func TestCompositesHoldNothingUnsaid(t *testing.T) {
	for name, a := range map[string]Access{"ReadFile": ReadFile, "ReadTree": ReadTree, "ListDir": ListDir, "WriteFile": WriteFile,
		"CreateIn": CreateIn, "WriteTree": WriteTree} {
		if extra := a & (FSMakeChar | FSMakeBlock | FSExecute | FSIoctlDev | FSResolveUnix); extra != 0 {
			t.Errorf("%s holds %v", name, extra)
		}
	}
	for name, a := range map[string]Access{"ReadFile": ReadFile, "ReadTree": ReadTree, "ListDir": ListDir, "ExecFile": ExecFile} {
		if extra := a &^ (FSReadFile | FSReadDir | FSExecute); extra != 0 {
			t.Errorf("%s holds %v", name, extra)
		}
	}
}
