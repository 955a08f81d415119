/* Computes without end. argv: for how many seconds of CPU at most. */
int main(int argc, char **argv) {
	struct rusage u = {0};
	started();
	while (u.ru_utime.tv_sec + u.ru_stime.tv_sec < atoi(argv[1]))
		getrusage(RUSAGE_SELF, &u);
	printf("reached %s seconds of CPU\n", argv[1]);
	return 0;
}
