/* Makes refused calls from many threads at once. One that is not refused is told. */
static void *flood_ask(void *unused) {
	long through = 0;
	for (int i = 0; i < 500; i++)
		through += syscall(SYS_keyctl, 0, -4, 0) >= 0 || errno != EPERM;
	return (void *)through;
}

int main(int argc, char **argv) {
	pthread_t t[8];
	long through = 0;
	void *more;
	started();
	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, flood_ask, NULL);
	for (int i = 0; i < 8; i++) {
		pthread_join(t[i], &more);
		through += (long)more;
	}
	if (through)
		printf("reached the keyring %ld times\n", through);
	return 0;
}
