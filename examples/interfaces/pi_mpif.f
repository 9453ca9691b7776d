C     Pi by the midpoint rule, the intervals dealt out to the ranks:
C     Fortran 77 and include 'mpif.h'.
C
C         mpifort pi_mpif.f -o pi_mpif
C         mpirun -n 4 ./pi_mpif 1000000
      PROGRAM PI
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER N, RANK, RANKS, I, STATUS, IERROR
      DOUBLE PRECISION X, PART, TOTAL
      CHARACTER*16 WORD

      CALL MPI_INIT(IERROR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERROR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, RANKS, IERROR)
      N = 1000000
      IF (RANK .EQ. 0) THEN
         CALL GET_COMMAND_ARGUMENT(1, WORD)
         READ (WORD, *, IOSTAT=STATUS) I
         IF (STATUS .EQ. 0 .AND. I .GT. 0) N = I
      END IF
      CALL MPI_BCAST(N, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, IERROR)

      PART = 0.0D0
      DO 10 I = RANK, N - 1, RANKS
         X = (I + 0.5D0) / N
         PART = PART + 4.0D0 / (1.0D0 + X*X)
 10   CONTINUE
      CALL MPI_REDUCE(PART, TOTAL, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0,
     &                MPI_COMM_WORLD, IERROR)
      IF (RANK .EQ. 0) PRINT '(A, F15.12)', 'pi is about ', TOTAL / N
      CALL MPI_FINALIZE(IERROR)
      END
