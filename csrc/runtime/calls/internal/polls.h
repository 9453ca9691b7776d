/* Calls that a program repeats until something has happened: those that follow each other share a row. */
#ifndef POLLS_H
#define POLLS_H

#include "record/thread.h"

/* Was the thread's latest call the same, and so short before that both may share a row? */
bool thread_is_repeated(const struct thread *t, const struct file_call *row);

/* And is there such a row already? */
bool thread_shares_row(const struct thread *t, const struct file_call *row);

/* A poll that found nothing. */
void thread_count_poll(struct thread *t, uint16_t call, uint64_t enter, uint64_t exit);

#endif
