"""Commands that say why a run took as long as it did, from its measured times and from replays."""
