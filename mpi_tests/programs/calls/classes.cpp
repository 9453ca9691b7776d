// C++: messages from objects that live and die, through the C interface, counted as truth.h does.

// The old C++ bindings, which Open MPI 4 still compiles into every program, would make calls of their own.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "truth.h"

#include <vector>

namespace {

class Exchange {
  public:
    Exchange(MPI_Comm comm, int peer, int tag, int n) : comm_(comm), out_(n), in_(n)
    {
        outgoing(out_.data(), comm, peer, tag, n);
        CALL(MPI_Irecv, in_.data(), n, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests_[0]);
        CALL(MPI_Isend, out_.data(), n, MPI_INT, peer, tag, comm, &requests_[1]);
    }
    Exchange(const Exchange &) = delete;
    Exchange &operator=(const Exchange &) = delete;
    ~Exchange()
    {
        CALL(MPI_Waitall, 2, requests_, MPI_STATUSES_IGNORE);
        incoming(in_.data(), comm_);
    }

  private:
    MPI_Comm comm_;
    std::vector<int> out_, in_;
    MPI_Request requests_[2];
};

} // namespace

int main(int argc, char **argv)
{
    CALL(MPI_Init, &argc, &argv);
    truth_begin();
    for (int n = 3; n < 50; n++) {
        Exchange one(MPI_COMM_WORLD, truth.rank ^ 1, n, n), two(MPI_COMM_WORLD, truth.rank ^ 1, 1000 + n, 2 * n);
    }
    double mine = truth.rank, sum = 0;
    CALL(MPI_Allreduce, &mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CALL(MPI_Finalize);
    truth_write();
    return sum == truth.size * (truth.size - 1) / 2 ? 0 : 1;
}
