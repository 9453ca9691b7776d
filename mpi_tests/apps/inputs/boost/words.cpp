// Boost.MPI: serialised objects, nonblocking and in collectives; and MPI's own C++ bindings, which MPI-3 removed and
// Debian's Open MPI still has.

#include <mpi.h>

#include <boost/mpi.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <iostream>
#include <map>

namespace mpi = boost::mpi;
using Counts = std::map<std::string, long>;

static Counts sum(const Counts &a, const Counts &b)
{
    Counts result = a;
    for (const auto &[word, n] : b) result[word] += n;
    return result;
}

// Words made from a linear congruential generator, other ones on each rank.
static std::vector<std::string> text(int rank, int length)
{
    unsigned long state = 4711 + rank;
    std::vector<std::string> words;
    for (int i = 0; i < length; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        words.push_back(std::string(1 + (state >> 60), 'a' + (state >> 40) % 26));
    }
    return words;
}

int main(int argc, char **argv)
{
    mpi::environment environment(argc, argv);
    mpi::communicator world;
    int right = (world.rank() + 1) % world.size(), left = (world.rank() + world.size() - 1) % world.size();
    Counts counts;
    std::vector<std::string> mine = text(world.rank(), 200), received;
    for (int round = 0; round < world.size() * 5; round++) {
        mpi::request requests[] = {world.isend(right, round, mine), world.irecv(left, round, received)};
        for (const std::string &word : mine) counts[word]++;
        mpi::wait_all(requests, requests + 2);
        mine = received;
    }
    mpi::communicator half = world.split(world.rank() % 2);
    MPI::COMM_WORLD.Barrier();
    long in_half = mpi::all_reduce(half, (long)counts.size(), std::plus<long>());
    std::vector<long> halves;
    mpi::gather(world, in_half, halves, 0);
    Counts all;
    mpi::reduce(world, counts, all, sum, 0);
    if (world.rank() == 0) {
        long total = 0, weighted = 0;
        for (const auto &[word, n] : all) total += n, weighted += n * word.size() * word[0];
        std::cout << "result: words " << all.size() << "\nresult: total " << total << " weighted " << weighted << "\n";
        for (long n : halves) std::cout << "result: in half " << n << "\n";
    }
    return 0;
}
