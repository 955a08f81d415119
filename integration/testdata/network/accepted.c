/* Uses a server that a rule names, and the connections it accepted, for something else. What reaches a place says how first. argv: the server's port,
   a bad host, its port. */
#include "out.h"

static struct sockaddr_in bad, nowhere = {.sin_family = AF_UNSPEC}, any = {.sin_family = AF_INET};

static void again(const char *way, int s) {
	char line[60];
	snprintf(line, sizeof line, "%s\n", way);
	if (tell(way, connect(s, (void *)&bad, sizeof bad)) == 0)
		send(s, line, strlen(line), MSG_NOSIGNAL);
	else
		tell(way, sendto(s, line, strlen(line), MSG_FASTOPEN | MSG_NOSIGNAL, (void *)&bad, sizeof bad));
}

static int server(int port) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	tell("bind", bind(s, (void *)&at, sizeof at));
	tell("listen", listen(s, 10));
	return s;
}

int main(int argc, char **argv) {
	started();
	bad = place(argv[2], argv[3]);
	int s = server(atoi(argv[1]));
	puts("ready");
	fflush(stdout);
	int last = accept(s, NULL, NULL), a = accept(s, NULL, NULL), b = accept(s, NULL, NULL), c = accept(s, NULL, NULL);
	struct sockaddr_in at;
	socklen_t n = sizeof at;
	if (tell("accepted", a) > 0 && getsockname(a, (void *)&at, &n) == 0)
		printf("at %s\n", inet_ntoa(at.sin_addr));
	connect(a, (void *)&nowhere, sizeof nowhere);
	again("accepted", a);
	connect(b, (void *)&nowhere, sizeof nowhere);
	tell("bind accepted", bind(b, (void *)&any, sizeof any));
	tell("listen accepted", listen(b, 10));
	connect(c, (void *)&nowhere, sizeof nowhere);
	tell("listen accepted unbound", listen(c, 10));
	shutdown(s, SHUT_RDWR);
	connect(s, (void *)&nowhere, sizeof nowhere);
	again("listener", s);
	int t = socket(AF_INET, SOCK_STREAM, 0);
	tell("bind without a rule", bind(t, (void *)&any, sizeof any));
	tell("listen without a rule", listen(t, 10));
	send(last, "done\n", 5, 0);
	while (getchar() != EOF)
		;
	return 0;
}
