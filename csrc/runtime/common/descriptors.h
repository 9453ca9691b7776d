/* Descriptors of ours that stay open while the program runs. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

/* High, where a program that closes all descriptors and opens its own does not come: a stranger's must not be read. */
int descriptor_out_of_the_way(int fd);

#endif
