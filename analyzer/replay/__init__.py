"""What would this run do on another machine: a discrete-event simulator over the operations of a trace."""
