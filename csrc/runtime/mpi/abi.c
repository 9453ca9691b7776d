#define _GNU_SOURCE
#include "mpi/abi.h"

#include <pthread.h>
#include <string.h>

#include "mpi/resolve.h"
#include "schema.h"

struct abi abi;

/* Error classes of each MPI as the standard ABI numbers them; 0: it has no such class. */
static const uint16_t open_mpi_errors[] = {
    [1] = 1,     [2] = 2,     [3] = 3,     [4] = 4,     [5] = 5,     [6] = 6,     [7] = 7,     [8] = 8,     [9] = 9,
    [10] = 10,   [11] = 11,   [12] = 12,   [13] = 13,   [14] = 14,   [15] = 15,   [16] = 16,   [17] = 17,   [18] = 19,
    [19] = 18,   [20] = 20,   [21] = 21,   [22] = 22,   [23] = 23,   [24] = 24,   [25] = 25,   [26] = 26,   [27] = 27,
    [28] = 28,   [29] = 29,   [30] = 30,   [31] = 31,   [32] = 32,   [33] = 33,   [34] = 34,   [35] = 35,   [36] = 36,
    [37] = 37,   [38] = 38,   [39] = 39,   [40] = 40,   [41] = 41,   [42] = 42,   [43] = 43,   [44] = 44,   [45] = 45,
    [46] = 47,   [47] = 50,   [48] = 51,   [49] = 52,   [50] = 53,   [51] = 54,   [52] = 55,   [53] = 56,   [54] = 1005,
    [55] = 1003, [56] = 1001, [57] = 1007, [58] = 1008, [59] = 1010, [60] = 1012, [61] = 1013, [62] = 1009, [63] = 1014,
    [64] = 1015, [65] = 1017, [66] = 1016, [67] = 1018, [68] = 48,   [69] = 46,   [70] = 57,   [71] = 49,   [72] = 1006,
    [73] = 1011, [74] = 58,   [78] = 60,   [79] = 59,
};
static const uint16_t mpich_errors[] = {
    [1] = 1,     [2] = 2,     [3] = 3,     [4] = 4,     [5] = 5,     [6] = 6,     [7] = 8,     [8] = 9,     [9] = 10,
    [10] = 11,   [11] = 12,   [12] = 13,   [13] = 14,   [14] = 15,   [15] = 16,   [16] = 17,   [17] = 19,   [18] = 18,
    [19] = 7,    [20] = 20,   [21] = 21,   [22] = 23,   [23] = 25,   [24] = 27,   [25] = 28,   [26] = 29,   [27] = 30,
    [28] = 34,   [29] = 31,   [30] = 33,   [31] = 32,   [32] = 35,   [33] = 38,   [34] = 39,   [35] = 40,   [36] = 41,
    [37] = 42,   [38] = 43,   [39] = 44,   [40] = 45,   [41] = 51,   [42] = 53,   [43] = 54,   [44] = 55,   [45] = 56,
    [46] = 24,   [47] = 37,   [48] = 36,   [49] = 47,   [50] = 50,   [51] = 52,   [52] = 26,   [53] = 22,   [55] = 48,
    [56] = 46,   [57] = 49,   [58] = 57,   [59] = 1005, [60] = 1003, [61] = 1001, [62] = 1007, [63] = 1008, [64] = 1010,
    [65] = 1012, [66] = 1013, [67] = 1009, [68] = 1014, [69] = 1015, [70] = 1017, [71] = 1016, [72] = 1018, [73] = 1011,
    [74] = 1006, [75] = 60,   [76] = 58,   [77] = 59,   [78] = 1004, [79] = 1002, [80] = 61,   [81] = 62,
};

const struct abi abi_open_mpi = {
    .name = "Open MPI",
    .family = FAMILY_OPEN_MPI,
    .wide_handles = true,
    .status_bytes = 24,
    .source_at = 0,
    .tag_at = 1,
    .error_at = 2,
    .count_at = 4,
    .cancelled_at = 3,
    .count_is_word = true,
    .cancelled_mask = 0xff,
    .status_ignore = 0,
    .statuses_ignore = 0,
    .in_place = 1,
    .any_source = -1,
    .any_tag = -1,
    .proc_null = -2,
    .root = -4,
    .err_in_status = 18,
    .err_pending = 19,
    .thread_multiple = 3,
    .cart = 1,
    .graph = 2,
    .dist_graph = 3,
    .lock_exclusive = 1,
    .lock_shared = 2,
    .assertions = {1, 2, 4, 8, 16},
    .modes = {128, 1, 16, 64, 2, 8, 256, 32, 4},
    .error_classes = open_mpi_errors,
    .last_error_class = sizeof open_mpi_errors / sizeof open_mpi_errors[0] - 1,
};

const struct abi abi_mpich = {
    .name = "MPICH",
    .family = FAMILY_MPICH,
    .fortran_calls_c = true,
    .status_bytes = 20,
    .source_at = 2,
    .tag_at = 3,
    .error_at = 4,
    .count_at = 0,
    .cancelled_at = 1,
    .cancelled_mask = 1,
    .world = 0x44000000,
    .self = 0x44000001,
    .comm_null = 0x04000000,
    .request_null = 0x2c000000,
    .byte = 0x4c00010d,
    .message_null = 0x2c000000,
    .message_no_proc = 0x6c000000,
    .status_ignore = 1,
    .statuses_ignore = 1,
    .in_place = -1,
    .any_source = -2,
    .any_tag = -1,
    .proc_null = -1,
    .root = -3,
    .err_in_status = 17,
    .err_pending = 18,
    .thread_multiple = 3,
    .cart = 2,
    .graph = 1,
    .dist_graph = 3,
    .lock_exclusive = 234,
    .lock_shared = 235,
    .assertions = {1024, 8192, 4096, 2048, 16384},
    .modes = {128, 1, 16, 64, 2, 8, 256, 32, 4},
    .error_classes = mpich_errors,
    .last_error_class = sizeof mpich_errors / sizeof mpich_errors[0] - 1,
    .op_no_op = 0x5800000e,
    .info_null = 0x1c000000,
    .errors_return = 0x54000001,
};

const struct abi abi_standard = {
    .name = "MPI ABI",
    .family = FAMILY_MPI_ABI,
    .wide_handles = true,
    .fortran_calls_c = true,
    .status_bytes = 32,
    .source_at = 0,
    .tag_at = 1,
    .error_at = 2,
    .count_at = 3,
    .cancelled_at = 4,
    .cancelled_mask = 1,
    .world = 0x101,
    .self = 0x102,
    .comm_null = 0x100,
    .request_null = 0x180,
    .byte = 0x247,
    .message_null = 0x128,
    .message_no_proc = 0x129,
    .status_ignore = 0,
    .statuses_ignore = 0,
    .in_place = 1,
    .any_source = -1,
    .any_tag = -2,
    .proc_null = -3,
    .root = -4,
    .err_in_status = 19,
    .err_pending = 18,
    .thread_multiple = 4096,
    .cart = 211,
    .graph = 212,
    .dist_graph = 213,
    .lock_exclusive = 301,
    .lock_shared = 302,
    .assertions = {1024, 2048, 4096, 8192, 16384},
    .modes = {1, 2, 4, 8, 16, 32, 64, 128, 256},
    .last_error_class = 1018,
    .op_no_op = 0x3d,
    .info_null = 0x130,
    .errors_return = 0x143,
};

int32_t abi_peer(int rank)
{
    if (rank >= 0) return rank;
    if (rank == abi.proc_null) return PEER_PROC_NULL;
    if (rank == abi.any_source) return PEER_ANY_SOURCE;
    if (rank == abi.root) return PEER_ROOT;
    return PEER_NONE;
}

static uint32_t standard_bits(const int *native, int n, uint32_t first, int value)
{
    uint32_t bits = 0;
    for (int i = 0; i < n; i++)
        if (value & native[i]) bits |= first << i;
    return bits;
}

uint16_t abi_assertions(int assertion)
{
    return (uint16_t)standard_bits(abi.assertions, ASSERTIONS, FIRST_ASSERTION, assertion);
}

uint32_t abi_access_mode(int amode)
{
    return standard_bits(abi.modes, ACCESS_MODES, 1, amode);
}

uint16_t abi_lock(int lock_type)
{
    return lock_type == abi.lock_exclusive ? LOCK_EXCLUSIVE : lock_type == abi.lock_shared ? LOCK_SHARED : 0;
}

int64_t abi_error_class(int native)
{
    if (native >= 0 && native <= abi.last_error_class) {
        int standard = abi.error_classes ? abi.error_classes[native] : native;
        if (standard) return standard;
    }
    return OTHER_ERROR_CLASS + (int64_t)native;
}

uint64_t abi_thread_level(int level)
{
    if (abi.family == FAMILY_MPI_ABI)
        return (uint64_t)level / 1024 > 3 ? 3 : (uint64_t)level / 1024; /* 0, 1024, .. 4096 */
    return (uint64_t)level;
}

/* Addresses of data that the Fortran side of an MPI has under these names; known with its first use. */
static struct {
    void *const *statuses[4];
    word in_place[4];
    bool known;
} fortran;

static void look_up_fortran_data(void)
{
    static const char *const statuses[] = {"MPI_F_STATUS_IGNORE", "MPI_F_STATUSES_IGNORE", "MPI_F08_STATUS_IGNORE",
                                           "MPI_F08_STATUSES_IGNORE"};
    static const char *const in_place[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                                           "MPI_FORTRAN_IN_PLACE"};
    for (int i = 0; i < 4; i++) fortran.statuses[i] = resolve_data(statuses[i]);
    for (int i = 0; i < 4; i++) fortran.in_place[i] = (word)resolve_data(in_place[i]);
    __atomic_store_n(&fortran.known, true, __ATOMIC_RELEASE);
}

/* By one thread; the flag spares the others the call. */
static void find_fortran_data(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!__atomic_load_n(&fortran.known, __ATOMIC_ACQUIRE)) pthread_once(&once, look_up_fortran_data);
}

/* MPICH sets its pointers only when its Fortran side starts: they are read at each use, never kept. */
static bool same_address(word address, void *const *symbol)
{
    return symbol && *symbol && address == (word)*symbol;
}

bool abi_fortran_status_ignored(word status)
{
    find_fortran_data();
    for (int i = 0; i < 4; i++)
        if (same_address(status, fortran.statuses[i])) return true;
    return false;
}

bool abi_fortran_in_place(word buffer)
{
    find_fortran_data();
    for (int i = 0; i < 4; i++)
        if (fortran.in_place[i] && buffer == fortran.in_place[i]) return true;
    return false;
}

/* By a function of MPI, which is looked up once; if by several threads, then with the same result. */
static word converted_by(const int *f, word (**function)(word), const char *name)
{
    word (*convert)(word) = __atomic_load_n(function, __ATOMIC_RELAXED);
    if (!convert) {
        convert = (word (*)(word))resolve_symbol(name);
        __atomic_store_n(function, convert, __ATOMIC_RELAXED);
    }
    return convert ? convert(*f) : 0;
}

/* MPICH's Fortran handles are its C handles; the others convert by a function. */
static word converted(const int *f, word (**function)(word), const char *open_mpi_name, const char *abi_name)
{
    if (abi.family == FAMILY_MPICH) return *f;
    return converted_by(f, function, abi.family == FAMILY_OPEN_MPI ? open_mpi_name : abi_name);
}

word abi_comm_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Comm_f2c", "PMPI_Comm_fromint");
}

word abi_type_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Type_f2c", "PMPI_Type_fromint");
}

word abi_request_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Request_f2c", "PMPI_Request_fromint");
}

word abi_message_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Message_f2c", "PMPI_Message_fromint");
}

word abi_op_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Op_f2c", "PMPI_Op_fromint");
}

word abi_group_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Group_f2c", "PMPI_Group_fromint");
}

word abi_win_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Win_f2c", "PMPI_Win_fromint");
}

word abi_session_f2c(const int *f)
{
    static word (*function)(word);
    return converted(f, &function, "PMPI_Session_f2c", "PMPI_Session_fromint");
}

/* MPICH's files are addresses, which Fortran's ints cannot be. */
word abi_file_f2c(const int *f)
{
    static word (*function)(word);
    return converted_by(f, &function, abi.family == FAMILY_MPI_ABI ? "PMPI_File_fromint" : "PMPI_File_f2c");
}
