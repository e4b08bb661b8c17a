<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The exit codes of the command line. */
final class ExitCode
{
    public const OK = 0;

    /** Nothing of that name, refused, or found to be in a bad state. */
    public const FAILED = 1;

    /** A wrong option or argument, or a handler that cannot be loaded. */
    public const USAGE = 2;

    /** Redis cannot be reached, or does not accept the credentials. */
    public const UNREACHABLE = 3;

    /** Redis was reached and refused. */
    public const REFUSED = 4;

    /** The database cannot be reached or refuses, or lacks a table. */
    public const DATABASE = 5;

    /** A worker ended for another process to take its place: EX_TEMPFAIL of sysexits.h. */
    public const RESTART = 75;

    /** The reader of standard output has ended, as shells say of programs that SIGPIPE has ended. */
    public const PIPE = 141;

    /** The extension ended a process whose handler did not stop in time. */
    public const STUCK = 124;
}
