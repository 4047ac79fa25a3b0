/* The plainest server that keeps a schedule: answers one upgrade, waits for the client's first frame, answers it with the
 * hub's handshake, and then writes one frame of 128 B at each moment of the schedule (gaps in ns, a line each), on an
 * absolute timerfd. What `pace` measures replay against. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static void need(int holds, const char *what) {
    if (!holds) {
        perror(what);
        exit(1);
    }
}

static void read_until(int fd, const char *mark, char *buffer, size_t size) {
    size_t used = 0;
    while (used < size - 1) {
        ssize_t got = read(fd, buffer + used, size - 1 - used);
        need(got > 0, "read");
        used += (size_t)got;
        buffer[used] = 0;
        if (!mark || strstr(buffer, mark)) return;
    }
}

int main(int count, char **arguments) {
    need(count == 2, "usage: pace SCHEDULE");
    FILE *file = fopen(arguments[1], "r");
    need(file != NULL, arguments[1]);
    size_t frames = 0, room = 1024;
    int64_t *gaps = malloc(room * sizeof *gaps);
    while (fscanf(file, "%ld", &gaps[frames]) == 1)
        if (++frames == room) gaps = realloc(gaps, (room *= 2) * sizeof *gaps);

    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    need(bind(listener, (struct sockaddr *)&address, length) == 0, "bind");
    need(listen(listener, 8) == 0, "listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    int client = accept(listener, NULL, NULL), yes = 1;
    need(client >= 0, "accept");
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    char buffer[4096];
    read_until(client, "\r\n\r\n", buffer, sizeof buffer);
    const char *upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    need(write(client, upgrade, strlen(upgrade)) > 0, "write");
    read_until(client, NULL, buffer, sizeof buffer);
    need(write(client, "\x81\x03{}\x1e", 5) == 5, "write");

    char frame[132] = {(char)0x81, 126, 0, (char)128};
    memset(frame + 4, 'x', 128);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), poll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(poll, EPOLL_CTL_ADD, timer, &event);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t due = now.tv_sec * 1000000000L + now.tv_nsec;
    for (size_t i = 0; i < frames; i++) {
        due += gaps[i];
        struct itimerspec at = {.it_value = {due / 1000000000L, due % 1000000000L}};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
        uint64_t expirations;
        while (read(timer, &expirations, sizeof expirations) < 0) epoll_wait(poll, &event, 1, -1);
        need(write(client, frame, sizeof frame) == sizeof frame, "write");
    }
    while (read(client, buffer, sizeof buffer) > 0) {
    }
    return 0;
}
