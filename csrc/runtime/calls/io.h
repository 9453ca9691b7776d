/* MPI's files. Contract: frame.h.
 *
 * A place in a file is a number of bytes from its beginning; -1: it is not known. Places are asked for before the call,
 * of files that are open. */
#ifndef IO_H
#define IO_H

#include "calls/data_bytes.h"
#include "calls/frame.h"

enum io { IO_READ, IO_WRITE };

/* The place of an offset in the file's view, of the individual pointer, and of the split collective that goes on. They
 * ask MPI where they must. */
int64_t io_at(word file, int64_t offset);
int64_t io_position(word file);
int64_t io_split(word file);

/* Give room for a status, as status_buffer. */
void *io_status(struct thread *t, word user, bool ignored);

/* MPI_File_open: `name` has `length` bytes. */
void record_file_opened(const struct frame *f, word comm, const char *name, size_t length, int amode, word file);

/* MPI_File_set_view: the view begins at byte `begin`; `native`: its data representation is that. */
void record_file_view(const struct frame *f, word file, int64_t begin, word etype, word filetype, bool native);

/* A call on a file that moves no data. */
void record_file(const struct frame *f, word file, int64_t offset);

/* A call that has moved data, or the second half of a split collective. `offset`: its place in the file. */
void record_io(const struct frame *f, word file, enum io direction, int64_t offset, const void *status);

/* The first half of a split collective; record_io is the second. */
void record_io_begin(const struct frame *f, word file, int64_t offset);
void record_io_request(const struct frame *f, word file, enum io direction, struct data data, int64_t offset,
                       word request);

#endif
