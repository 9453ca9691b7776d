"""What changed between two runs, or between several repetitions of each, and whether that is more than noise.

`measure` turns a run into named figures and, where it has iterations, into samples of them; `noise` tests samples;
`compare` puts both sides together.
"""
