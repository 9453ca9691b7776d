"""Commands about the models themselves: of the network, and of the machine."""
