"""Commands about the network alone: measured beforehand, or seen in the messages of runs."""
