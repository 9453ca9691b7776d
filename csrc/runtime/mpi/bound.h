/* Libraries whose references to MPI pass us by, and which are made to refer to us.
 *
 * One that is opened with RTLD_DEEPBIND looks into its own libraries first and finds MPI there; so does every library
 * if MPI itself is preloaded ahead of us. Both are bound by the dynamic linker as always. Then, before they are
 * initialized, each word with the address of a procedure of the MPI library that we forward to gets ours. */
#ifndef BOUND_H
#define BOUND_H

/* A file is about to be opened by this thread, with these flags of dlopen. */
void bound_opening(int flags);

/* From now on, `loaded` is called when libraries have been loaded: they are bound and not yet initialized. In the
 * thread that loads them, which holds the dynamic linker's lock; several times where there are several. NULL: nobody is
 * told. */
void bound_listen(void (*loaded)(void));

#endif
