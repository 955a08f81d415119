/* Leaves many processes behind, each orphaned in a session of its own, deaf and without descriptors. argv: a word to be found by. */
int main(int argc, char **argv) {
	int there[2];
	char c;
	started();
	pipe(there);
	for (int i = 0; i < 20; i++) {
		if (fork() == 0) {
			setsid();
			if (fork() == 0) {
				signal(SIGTERM, SIG_IGN);
				signal(SIGHUP, SIG_IGN);
				write(there[1], "x", 1);
				close_range(0, 64, 0);
				sleep(20);
			}
			_exit(0);
		}
		wait(NULL);
	}
	for (int i = 0; i < 20; i++)
		read(there[0], &c, 1);
	return 0;
}
