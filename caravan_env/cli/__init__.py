"""The command `caravan`: one file per group of commands, loaded when the command is asked for."""
