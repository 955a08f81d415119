// exec with no argument at all (the kernel makes it one empty string), after a failed search along a path.
#include <unistd.h>
#include <errno.h>
int main(int argc, char **argv) {
	char *none[] = {0}, *env[] = {0};
	execve("/nowhere/true", none, env);
	if (errno != ENOENT) return 8;
	execve(argv[1], none, env);
	if (errno != EACCES) return 7;
	execve("/bin/true", none, env);
	return 9;
}
