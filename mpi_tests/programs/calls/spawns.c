// Two worlds: this program spawns itself once, the two sides speak with each other, and part. Each world is a run of
// its own; in the spawned one there are as many processes as the first argument says. A second one says how many a
// second command of the same spawning starts.

#include "truth.h"

static int rank, size;

// Each process of the smaller side sends to its like on the other, which answers.
static void speak(MPI_Comm inter, int ask)
{
    int value = 0, local, remote, me;
    CALL(MPI_Comm_remote_size, inter, &remote);
    CALL(MPI_Comm_size, inter, &local);
    CALL(MPI_Comm_rank, inter, &me);
    if (me >= remote || me >= local) return;
    if (ask) CALL(MPI_Send, &value, 1, MPI_INT, me, 3, inter);
    CALL(MPI_Recv, &value, 1, MPI_INT, me, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
    if (!ask) CALL(MPI_Send, &value, 1, MPI_INT, me, 4, inter);
}

static void spawn(char **argv, int commands, MPI_Comm *inter)
{
    char *programs[] = {argv[0], argv[0]};
    int ranks[] = {atoi(argv[1]), commands > 1 ? atoi(argv[2]) : 0};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    if (commands > 1) {
        CALL(MPI_Comm_spawn_multiple, commands, programs, MPI_ARGVS_NULL, ranks, infos, 0, MPI_COMM_WORLD, inter,
             MPI_ERRCODES_IGNORE);
    } else {
        CALL(MPI_Comm_spawn, programs[0], MPI_ARGV_NULL, ranks[0], infos[0], 0, MPI_COMM_WORLD, inter,
             MPI_ERRCODES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, merged;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    rank = truth.rank;
    size = truth.size;
    CALL(MPI_Comm_get_parent, &parent);
    CALL(MPI_Comm_get_parent, &parent); // it stays the same
    int spawned = parent != MPI_COMM_NULL;
    inter = parent;
    if (!spawned) spawn(argv, argc - 1, &inter);
    speak(inter, !spawned);
    CALL(MPI_Intercomm_merge, inter, spawned, &merged);
    CALL(MPI_Barrier, merged);
    CALL(MPI_Comm_free, &merged);
    CALL(MPI_Comm_disconnect, &inter);
    CALL(MPI_Finalize);
    if (!spawned) truth_write();
    return 0;
}
