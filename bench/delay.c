/*
 * delay SERVER_PORT EACH_WAY_US: a TCP proxy on the loopback interface that hands each byte on that much later, in both directions.
 * It prints the port it listens on. One thread, because it has little to do: bytes wait in a ring, together with the moments at
 * which they are to go on, and ppoll() sleeps until the next of these moments or until there is something to read.
 * After SIGUSR1 it prints a line: how many round trips began since it was asked last, which is how often a client sent something after an answer.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 64, RING_BYTES = 1 << 20, MARKS = 4096 };

/* All bytes of a lane up to the end-th may leave at due_ns. */
struct mark {
    uint64_t end;
    int64_t due_ns;
};

/* One direction of a connection. Counters only grow; modulo the size they are places in the rings. */
struct lane {
    char ring[RING_BYTES];
    struct mark marks[MARKS];
    uint64_t bytes_in, bytes_out, marks_in, marks_out;
    int64_t ended_ns; /* when its end may leave; 0: it has not ended */
    bool is_blocked, is_shut;
};

/* lanes[i] goes from sockets[i] to the other one. */
struct pair {
    int sockets[2];
    struct lane lanes[2];
    bool is_asking;
};

static struct pair *pairs[PAIRS];
static int64_t delay_ns;
static unsigned trips;
static volatile sig_atomic_t is_asked;

static void ask(int number)
{
    (void)number;
    is_asked = 1;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void prepare(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, O_NONBLOCK);
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return address;
}

static void end_pair(int at)
{
    close(pairs[at]->sockets[0]);
    close(pairs[at]->sockets[1]);
    free(pairs[at]);
    pairs[at] = NULL;
}

static void begin_pair(int listener, int server_port)
{
    struct sockaddr_in server = loopback(server_port);
    int client = accept(listener, NULL, NULL), other = socket(AF_INET, SOCK_STREAM, 0), at = 0;
    while (at < PAIRS && pairs[at]) at++;
    if (client < 0 || other < 0 || at == PAIRS || connect(other, (struct sockaddr *)&server, sizeof server) ||
        !(pairs[at] = calloc(1, sizeof(struct pair)))) {
        close(client);
        close(other);
        return;
    }
    prepare(client);
    prepare(other);
    pairs[at]->sockets[0] = client;
    pairs[at]->sockets[1] = other;
}

static bool has_room(const struct lane *lane)
{
    return !lane->ended_ns && lane->bytes_in - lane->bytes_out < RING_BYTES && lane->marks_in - lane->marks_out < MARKS;
}

static void take_in(struct lane *lane, int from)
{
    size_t place = lane->bytes_in % RING_BYTES, room = RING_BYTES - (lane->bytes_in - lane->bytes_out);
    ssize_t got = read(from, lane->ring + place, room < RING_BYTES - place ? room : RING_BYTES - place);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    int64_t due_ns = now_ns() + delay_ns;
    if (got <= 0) {
        lane->ended_ns = due_ns;
        return;
    }
    lane->bytes_in += got;
    lane->marks[lane->marks_in++ % MARKS] = (struct mark){lane->bytes_in, due_ns};
}

/* Says false if the other side takes nothing any more. */
static bool let_out(struct lane *lane, int to)
{
    int64_t now = now_ns();
    lane->is_blocked = false;
    while (lane->marks_out < lane->marks_in && lane->marks[lane->marks_out % MARKS].due_ns <= now) {
        uint64_t end = lane->marks[lane->marks_out % MARKS].end;
        while (lane->bytes_out < end) {
            size_t place = lane->bytes_out % RING_BYTES, left = end - lane->bytes_out;
            ssize_t put = write(to, lane->ring + place, left < RING_BYTES - place ? left : RING_BYTES - place);
            if (put < 0 && errno == EAGAIN) return lane->is_blocked = true;
            if (put < 0) return false;
            lane->bytes_out += put;
        }
        lane->marks_out++;
    }
    if (lane->ended_ns && lane->ended_ns <= now && lane->marks_out == lane->marks_in && !lane->is_shut) {
        shutdown(to, SHUT_WR);
        lane->is_shut = true;
    }
    return true;
}

/* The moment at which the lane has something to do again; none if it waits for its sockets. */
static int64_t next_ns(const struct lane *lane)
{
    if (lane->is_blocked || lane->is_shut) return INT64_MAX;
    if (lane->marks_out < lane->marks_in) return lane->marks[lane->marks_out % MARKS].due_ns;
    return lane->ended_ns ? lane->ended_ns : INT64_MAX;
}

static void serve(int listener, int server_port)
{
    for (;;) {
        struct pollfd polled[1 + 2 * PAIRS] = {{.fd = listener, .events = POLLIN}};
        int64_t wake_ns = INT64_MAX;
        for (int at = 0; at < 2 * PAIRS; at++) {
            struct pair *pair = pairs[at / 2];
            polled[1 + at].fd = -1;
            if (!pair) continue;
            const struct lane *away = &pair->lanes[at % 2], *back = &pair->lanes[1 - at % 2];
            short events = (has_room(away) ? POLLIN : 0) | (back->is_blocked ? POLLOUT : 0);
            if (events) polled[1 + at] = (struct pollfd){.fd = pair->sockets[at % 2], .events = events};
            if (next_ns(away) < wake_ns) wake_ns = next_ns(away);
        }
        int64_t left_ns = wake_ns == INT64_MAX ? 0 : wake_ns - now_ns();
        if (left_ns < 0) left_ns = 0;
        struct timespec patience = {left_ns / 1000000000, left_ns % 1000000000};
        ppoll(polled, 1 + 2 * PAIRS, wake_ns == INT64_MAX ? NULL : &patience, NULL);
        if (is_asked) {
            is_asked = 0;
            printf("%u\n", trips);
            fflush(stdout);
            trips = 0;
            continue; /* an interrupted ppoll() has told nothing of the sockets */
        }
        for (int at = 0; at < PAIRS; at++) {
            struct pair *pair = pairs[at];
            if (!pair) continue;
            bool is_fine = true;
            for (int side = 0; side < 2; side++) {
                struct pollfd *socket = &polled[1 + 2 * at + side];
                if (socket->fd >= 0 && socket->revents & ~POLLOUT && has_room(&pair->lanes[side])) {
                    take_in(&pair->lanes[side], socket->fd);
                    if (side == 0 && !pair->is_asking) trips++;
                    pair->is_asking = side == 0;
                }
                is_fine = is_fine && let_out(&pair->lanes[side], pair->sockets[1 - side]);
            }
            if (!is_fine || (pair->lanes[0].is_shut && pair->lanes[1].is_shut)) end_pair(at);
        }
        if (polled[0].revents) begin_pair(listener, server_port);
    }
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: delay SERVER_PORT EACH_WAY_US\n");
        return 2;
    }
    delay_ns = atoll(arguments[2]) * 1000;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, ask);
    prctl(PR_SET_TIMERSLACK, 1UL); /* or Linux lets each sleep last 50 µs longer */
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, PAIRS) ||
        getsockname(listener, (struct sockaddr *)&address, &size)) {
        perror("delay");
        return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    serve(listener, atoi(arguments[1]));
}
