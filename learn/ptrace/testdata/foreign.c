// ptrace(2) on itself: a call the floor refuses. 0 when it answered EPERM.
#include <errno.h>
#include <sys/ptrace.h>
int main(void) { return !(ptrace(PTRACE_TRACEME, 0, 0, 0) == -1 && errno == EPERM); }
