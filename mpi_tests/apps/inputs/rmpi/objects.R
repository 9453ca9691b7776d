# Rmpi: sums, messages around a ring and R's objects; the package and the MPI are opened while R runs.
library(Rmpi)
rank <- mpi.comm.rank(0)
size <- mpi.comm.size(0)
sum <- mpi.allreduce(as.double(rank + 1), type = 2, op = "sum", comm = 0)
for (i in 1:5) {
  mpi.send(as.double(i * rank), 2, (rank + 1) %% size, 1, 0)
  last <- mpi.recv(double(1), 2, (rank + size - 1) %% size, 1, 0)
}
objects <- mpi.allgather.Robj(list(rank, letters[rank + 1]), comm = 0)
if (rank == 0) {
  cat("result: sum", sum, "\n")
  cat("result: last", last, "\n")
  cat("result: objects", paste(unlist(objects), collapse = " "), "\n")
}
mpi.quit()
