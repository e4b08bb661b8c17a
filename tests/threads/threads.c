/*
 * Runs a PHP script in several threads of one process, each with an interpreter of its own, as FrankenPHP does.
 *
 *     threads SCRIPT THREADS [ROUNDS [GENERATIONS [ENGINES]]]
 *
 * Each thread runs the script as one request after another (ROUNDS), with the constants THREAD (from 0), THREADS and ROUND. When all
 * have ended, as many new threads start (GENERATIONS); after these, PHP ends and starts anew in the same process (ENGINES).
 * Prints the exit statuses of the last round of each thread, and the growth of the process since the first fifth of its generations.
 */
#include <sapi/embed/php_embed.h>
#include <dirent.h>
#include <pthread.h>

struct thread {
    pthread_t id;
    int number, status;
};

static const char *script;
static int threads, rounds;

static int run_script(int number, int round)
{
    zend_file_handle file;
    int status;

    if (php_request_startup() == FAILURE) {
        return -1;
    }
    SG(headers_sent) = 1;
    SG(request_info).no_headers = 1;
    zend_register_long_constant(ZEND_STRL("THREAD"), number, CONST_CS, 0);
    zend_register_long_constant(ZEND_STRL("THREADS"), threads, CONST_CS, 0);
    zend_register_long_constant(ZEND_STRL("ROUND"), round, CONST_CS, 0);
    zend_stream_init_filename(&file, script);
    php_execute_script(&file);
    zend_destroy_file_handle(&file);
    status = EG(exit_status);
    php_request_shutdown(NULL);
    return status;
}

static void *work(void *argument)
{
    struct thread *thread = argument;

    (void) ts_resource(0);
    for (int round = 0; round < rounds; round++) {
        thread->status = run_script(thread->number, round);
    }
    ts_free_thread();
    return NULL;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (statm) {
        if (fscanf(statm, "%*s %ld", &pages) != 1) {
            pages = 0;
        }
        fclose(statm);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long count(const char *folder)
{
    long entries = 0;
    DIR *open = opendir(folder);

    while (open && readdir(open)) {
        entries++;
    }
    if (open) {
        closedir(open);
    }
    return entries;
}

int main(int argc, char **argv)
{
    int number = argc > 2 ? atoi(argv[2]) : 0, generations = argc > 4 ? atoi(argv[4]) : 1, engines = argc > 5 ? atoi(argv[5]) : 1;
    struct thread *all;
    long memory = 0, files = 0;

    if (number < 1) {
        fprintf(stderr, "usage: threads SCRIPT THREADS [ROUNDS [GENERATIONS [ENGINES]]]\n");
        return 2;
    }
    script = argv[1];
    threads = number;
    rounds = argc > 3 ? atoi(argv[3]) : 1;
    all = calloc(threads, sizeof(*all));
    for (int engine = 0; engine < engines; engine++) {
        if (php_embed_init(1, argv) == FAILURE) {
            return 2;
        }
        for (int generation = 0; generation < generations; generation++) {
            for (int i = 0; i < threads; i++) {
                all[i].number = i;
                if (pthread_create(&all[i].id, NULL, work, &all[i]) != 0) {
                    return 2;
                }
            }
            for (int i = 0; i < threads; i++) {
                pthread_join(all[i].id, NULL);
            }
            if (generation == generations / 5) {
                memory = resident_kib();
                files = count("/proc/self/fd");
            }
        }
        /* The extension's own threads, which nobody joins, end by themselves. */
        for (int tries = 0; count("/proc/self/task") > 3 && tries < 500; tries++) {
            usleep(10000);
        }
        printf("statuses:");
        for (int i = 0; i < threads; i++) {
            printf(" %d", all[i].status);
        }
        printf("\ngrown: %ld KiB, %ld files, %ld threads\n", resident_kib() - memory, count("/proc/self/fd") - files,
            count("/proc/self/task") - 3);
        fflush(stdout);
        php_embed_shutdown();
    }
    free(all);
    return 0;
}
