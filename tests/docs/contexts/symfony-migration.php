<?php

/** The method up() of a migration of Doctrine, for a database of SQLite. */

require getenv('CONTEXTS') . '/shared/symfony.php';

$migration = new class () {
    /** @var list<string> */
    public array $sql = [];

    public function addSql(string $sql): void
    {
        $this->sql[] = $sql;
    }

    public function up(): void
    {
        // The sample.
    }
};
$migration->up();
$tables = array_filter($migration->sql, static fn (string $sql): bool => str_starts_with($sql, 'create table'));
if (count($tables) !== 3) {
    exit(1);
}
