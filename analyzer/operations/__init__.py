"""What the ranks of a trace compute and communicate, without the times of the network: the input of replays."""
