"""Operations of a trace's ranks, without the times of the network: the input of replays."""
