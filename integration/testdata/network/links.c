/* Connects to a link of its own that another thread turns from a ruled socket of the host to another one, and to a path in memory that is flipped.
   argv: seconds for both, the ruled socket, the other one, a name for the link. */
#include "out.h"
#include <stdint.h>
#include <stddef.h>

static const char *ruled, *other, *name;
static struct sockaddr_un at = {.sun_family = AF_UNIX};
static volatile int stop;

static void *turn(void *unused) {
	char fresh[120];
	snprintf(fresh, sizeof fresh, "%s.new", name);
	while (!stop) {
		if (symlink(other, fresh) == 0) rename(fresh, name);
		if (symlink(ruled, fresh) == 0) rename(fresh, name);
	}
	return unused;
}

static void *flip(void *unused) {
	char a[sizeof at.sun_path] = "", b[sizeof at.sun_path] = "";
	strncpy(a, ruled, sizeof a - 1);
	strncpy(b, other, sizeof b - 1);
	while (!stop) {
		memcpy(at.sun_path, b, sizeof b);
		__asm__ volatile("" ::: "memory");
		for (volatile int i = 0; i < 500; i++) { }
		memcpy(at.sun_path, a, sizeof a);
		__asm__ volatile("" ::: "memory");
		for (volatile int i = 0; i < 900; i++) { }
	}
	return unused;
}

static void race(const char *what, void *(*change)(void *), double seconds) {
	int connected = 0, refused = 0, others = 0;
	pthread_t t;
	stop = 0;
	pthread_create(&t, NULL, change, NULL);
	for (double end = now() + seconds; now() < end;) {
		struct sockaddr_un link = {.sun_family = AF_UNIX};
		strncpy(link.sun_path, name, sizeof link.sun_path - 1);
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(s, change == flip ? (void *)&at : (void *)&link, sizeof at) == 0)
			connected++;
		else if (errno == EACCES)
			refused++;
		else
			others++;
		close(s);
		usleep(200);
	}
	stop = 1;
	pthread_join(t, NULL);
	printf("%s: connected %d refused %d others %d\n", what, connected, refused, others);
}

int main(int argc, char **argv) {
	started();
	ruled = argv[2], other = argv[3], name = argv[4];
	unlink(name);
	if (symlink(ruled, name))
		perror(name);
	strncpy(at.sun_path, ruled, sizeof at.sun_path - 1);
	race("link", turn, atof(argv[1]) / 2);
	race("path", flip, atof(argv[1]) / 2);
	unlink(name);
	return 0;
}
