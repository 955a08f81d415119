// What it does to the process: Probe puts an allow-all filter and no_new_privs on one thread of its own, which then ends.
// Undone: with that thread; the process's other threads are untouched.
// Preconditions: none; where seccomp is missing or forbidden the answer says so.
// Called by: cmd/psb before a plan is made, and psb doctor.
// Proven by: TestProbe.

package seccomp

import (
	"errors"
	"runtime"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Support is what this kernel and this process can do.
type Support struct {
	Filter        bool     // a filter with KILL_PROCESS can be installed (Linux 4.14)
	Notify        bool     // USER_NOTIF with CONTINUE exists (Linux 5.5) and no listener is in the way
	WaitKillable  bool     // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (Linux 5.19)
	Actions       []string // of kill_process kill_thread trap errno user_notif trace log allow, those available, in this order
	LibVersion    string   // libseccomp linked in
	ListenerTaken bool     // this process runs under somebody's listener; psb cannot have its own (gap notify)
	Err           error    // why Filter is false; nil when it is true
}

// Probe asks the kernel. It is cheap (one thread, no process) and leaves nothing behind.
func Probe() Support {
	s := Support{LibVersion: LibVersion()}
	for _, a := range []struct {
		name string
		ret  Action
	}{
		{"kill_process", Kill}, {"kill_thread", 0}, {"trap", 0x00030000}, {"errno", retErrno},
		{"user_notif", retNotify}, {"trace", Trace}, {"log", 0x7ffc0000}, {"allow", Allow},
	} {
		if sysActionAvailable(a.ret) {
			s.Actions = append(s.Actions, a.name)
		}
	}
	s.WaitKillable = waitKillable()
	plain, withListener := tryInstall()
	s.Err = plain
	if plain == nil && !sysActionAvailable(Kill) {
		s.Err = errors.New("seccomp: no KILL_PROCESS action (Linux 4.14)")
	}
	s.Filter = s.Err == nil
	s.ListenerTaken = errors.Is(withListener, unix.EBUSY)
	_, _, _, e := sysNotifSizes()
	s.Notify = s.Filter && withListener == nil && e == 0 && kernelAtLeast(5, 5)
	return s
}

// tryInstall wears an allow-all filter, without and with a listener, on a thread that ends with it.
func tryInstall() (plain, withListener error) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		if unix.Gettid() == unix.Getpid() {
			// The main thread never dies. Keep it busy and take another.
			plain, withListener = tryInstall()
			runtime.UnlockOSThread()
			close(done)
			return
		}
		defer close(done)
		if plain = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); plain != nil {
			withListener = plain
			return
		}
		native, err := Native()
		if err != nil {
			plain, withListener = err, err
			return
		}
		code, err := encode([]bpf.Instruction{bpf.RetConstant{Val: uint32(Allow)}})
		if err != nil {
			plain, withListener = err, err
			return
		}
		open := Program{Arch: native, Bytes: code}
		var fd int
		if fd, withListener = Install(open, true); withListener == nil {
			unix.Close(fd)
		}
		_, plain = Install(open, false)
	}()
	<-done
	return plain, withListener
}

func kernelAtLeast(major, minor int) bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var v [2]int
	i := 0
	for _, c := range u.Release {
		switch {
		case c >= '0' && c <= '9':
			v[i] = v[i]*10 + int(c-'0')
			continue
		case c == '.' && i == 0:
			i++
			continue
		}
		break
	}
	return v[0] > major || v[0] == major && v[1] >= minor
}
