// Job control: the child stops itself, stays stopped until it is continued, and its parent sees both.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
	int st, go[2];
	char c;
	if (pipe(go)) return 9;
	pid_t p = fork();
	if (p == 0) {
		raise(SIGSTOP);
		read(go[0], &c, 1); // an end before the parent has looked would hide that it was continued
		close(open(argv[1], O_RDONLY));
		_exit(5);
	}
	if (waitpid(p, &st, WUNTRACED) != p || !WIFSTOPPED(st) || WSTOPSIG(st) != SIGSTOP) return 1;
	if (waitpid(p, &st, WUNTRACED | WNOHANG) != 0) return 2;
	kill(p, SIGCONT);
	if (waitpid(p, &st, WCONTINUED) != p || !WIFCONTINUED(st)) return 3;
	write(go[1], "x", 1);
	if (waitpid(p, &st, 0) != p || !WIFEXITED(st) || WEXITSTATUS(st) != 5) return 4;
	return 0;
}
