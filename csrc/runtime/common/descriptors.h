/* Descriptors of ours that stay open while the program runs. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/* Move a descriptor to a high number, close-on-exec, and close the old one. A program that closes all descriptors and
 * opens its own does not reach that number, so we never read a stranger's file. Returns the new descriptor, or `fd`
 * itself if there is no room.
 * Context: any thread, no lock. */
int descriptor_out_of_the_way(int fd);

#endif
