// Errors that a program asks to get returned. Beside each stands its class, numbered as the standard ABI does.

#include "truth.h"

static int buffer[MESSAGE_INTS];

// A call that must fail with an error of the class MPI_ERR_..., whose number in the file is `number`.
#define FAILS(class_, number, name, ...)                                                                               \
    do {                                                                                                               \
        int got, code = CALL(name, __VA_ARGS__);                                                                       \
        PMPI_Error_class(code, &got);                                                                                  \
        if (got != (class_)) truth_fail(#name " failed in another way");                                               \
        truth_error(#name, number);                                                                                    \
    } while (0)

int main(int argc, char **argv)
{
    MPI_File fh;
    MPI_Request request;
    int own, code;
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    CALL(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) FAILS(MPI_ERR_RANK, 6, MPI_Send, buffer, 1, MPI_INT, truth.size, 0, MPI_COMM_WORLD);
    FAILS(MPI_ERR_TAG, 4, MPI_Isend, buffer, 1, MPI_INT, 0, -100, MPI_COMM_WORLD, &request);
    FAILS(MPI_ERR_COUNT, 2, MPI_Bcast, buffer, -1, MPI_INT, 0, MPI_COMM_WORLD);
    FAILS(MPI_ERR_NO_SUCH_FILE, 42, MPI_File_open, MPI_COMM_SELF, "no such file", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    CALL(MPI_Add_error_class, &own);
    CALL(MPI_Add_error_code, own, &code);
    // More ints than there is room for.
    int next = (truth.rank + 1) % truth.size, previous = (truth.rank + truth.size - 1) % truth.size;
    CALL(MPI_Send, outgoing(buffer, MPI_COMM_WORLD, next, 1, 10), 10, MPI_INT, next, 1, MPI_COMM_WORLD);
    FAILS(MPI_ERR_TRUNCATE, 15, MPI_Recv, buffer, 3, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(MPI_Finalize);
    truth_write();
    return 0;
}
