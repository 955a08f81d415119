// Does to the process: sends and receives messages of one fixed size; psb_fail ends it.
// Undone: not.
// Preconditions: fd is one end of a SOCK_SEQPACKET pair whose other end is psb.
// Called by: every stage.
// Proved by: TestStageErrors, TestExitStatus.
#include "stage2_linux.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// write(2) and read(2), not send and recv: they are what every filter leaves alone. SIGPIPE is blocked in every stage.
bool psb_send(int fd, const struct message *m) {
	ssize_t n;
	do n = write(fd, m, sizeof *m); while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m;
}

bool psb_receive(int fd, struct message *m) {
	ssize_t n;
	do n = read(fd, m, sizeof *m); while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m;
}

void psb_fail(int fd, const char *stage, const char *format, ...) {
	struct message m = {.kind = M_ERROR, .a = errno};
	char what[160];
	va_list ap;
	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	snprintf(m.text, sizeof m.text, "%s: %s", stage, what);
	psb_send(fd, &m);
	_exit(125);
}
