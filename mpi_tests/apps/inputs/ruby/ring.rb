# Ruby: numbers around a ring, sums and objects; the extension opens MPI while Ruby runs.
require "mpi"

MPI.Init
world = MPI::Comm::WORLD
rank, size = world.rank, world.size
held = NArray.int(4).fill!(rank)
size.times do
  received = NArray.int(4)
  request = world.Irecv(received, (rank - 1) % size, 1)
  world.Send(held, (rank + 1) % size, 1)
  request.Wait
  held = received
end
20.times do |turn|
  mine, sum = NArray.float(3).indgen! + rank * turn, NArray.float(3)
  world.Allreduce(mine, sum, MPI::Op::SUM)
  puts "result: turn #{turn} sum #{sum.to_a.join(' ')}" if rank == 0 && turn % 5 == 0
end
gathered = rank == 0 ? NArray.int(4 * size) : nil
world.Gather(held, gathered, 0)
puts "result: held #{gathered.to_a.join(' ')}" if rank == 0
MPI.Finalize
