// A daemon: setsid, a double fork, and the grandchild works on after its parents are gone.
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv) {
	int p[2];
	if (pipe(p)) return 1;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			char c;
			close(p[1]);
			read(p[0], &c, 1); // returns when main and the first child are gone
			close(open(argv[1], O_WRONLY | O_CREAT, 0600));
			_exit(0);
		}
		_exit(0);
	}
	return 0;
}
