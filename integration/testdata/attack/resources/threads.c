/* A bomb of threads with a fuse. argv: how many at most, a word to be found by. */
static void *threads_wait(void *unused) {
	pause();
	return NULL;
}

int main(int argc, char **argv) {
	pthread_attr_t small;
	pthread_t t;
	started();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < atoi(argv[1]); i++)
		if ((errno = pthread_create(&t, &small, threads_wait, NULL)) != 0) {
			perror("pthread_create");
			break;
		}
	ready();
	return 0;
}
