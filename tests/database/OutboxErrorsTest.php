<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\Database\SchemaException;
use DelayQueue\InvalidArgument;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use LogicException;
use PDO;
use PDOException;
use PHPUnit\Framework\Attributes\DataProvider;
use ValueError;

/** Wrong arguments, wrong tables, and connections of every setting. */
final class OutboxErrorsTest extends OutboxTestCase
{
    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testNothingIsPushedBeforeACommit(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $this->pdo->beginTransaction();
        foreach ([static fn () => $outbox->pushNow('orders', new NewJob(1)), static fn () => $outbox->flush(), fn () => $this->relay()->runOnce()] as $call) {
            try {
                $call();
                $this->fail('it is refused');
            } catch (LogicException) {
                $this->assertSame(0, $this->queue()->count());
            }
        }
        $this->pdo->rollBack();
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testWhatIsWrongIsNamed(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $class = Outbox::class;
        $wrong = [
            "$class::push(): Argument #2 (\$job): \"delay\" must be greater than or equal to 0" => static fn () => $outbox->push('orders', ['payload' => 1, 'delay' => -1]),
            "$class::push(): Argument #2 (\$job): \"unique\" must be null: the row itself arrives once" => static fn () => $outbox->push('orders', new NewJob(1, id: 'a', unique: 5)),
            "$class::pushNow(): Argument #2 (\$job): \"id\" must be UTF-8, since the database stores it as text" => static fn () => $outbox->pushNow('orders', new NewJob(1, id: "\xff")),
            "$class::pushMany(): Argument #2 (\$jobs) item 1: \"delay\" must be greater than or equal to 0" => static fn () => $outbox->pushMany('orders', [['payload' => 1], ['payload' => 1, 'delay' => -1]]),
            "$class::pushMany(): Argument #2 (\$jobs) item 0 has the unknown key \"foo\"; there are 'payload', 'delay', 'id', 'priority', 'ttr', 'maxAttempts', 'backoff', 'timeout', 'onDuplicate', 'headers', 'unique', 'maxWait', 'expires', 'onExpiry', 'retryUntil', 'group' and 'extras'" => static fn () => $outbox->pushMany('orders', [['payload' => 1, 'foo' => 1]]),
            "$class::push(): Argument #2 (\$job): \"payload\" must be given" => static fn () => $outbox->push('orders', ['delay' => 1]),
        ];
        foreach ($wrong as $message => $call) {
            try {
                $call();
                $this->fail($message);
            } catch (ValueError $error) {
                $this->assertSame($message, $error->getMessage());
            }
        }
        $this->assertSame(0, $this->rows());
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testATableThatIsMissingOrOfAnotherVersionIsNamedWithItsCure(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $refused = function (string $words, callable $call): void {
            try {
                $call();
                $this->fail($words);
            } catch (SchemaException $error) {
                $this->assertStringContainsString($words, $error->getMessage());
            }
        };
        $this->pdo->exec('update ' . Schema::SOURCE . ' set version = 2');
        $refused('are of version 2, and this package knows 1: update the package', fn () => $this->relay()->runOnce());
        $refused('are of version 2', static fn () => $outbox->pushNow('orders', new NewJob(1)));
        $this->pdo->exec('update ' . Schema::SOURCE . ' set version = 0');
        $refused('are of version 0, and this package knows 1: change them as', fn () => $this->relay()->run());
        $this->pdo->exec('delete from ' . Schema::SOURCE);
        $refused('is empty: run "delayqueue outbox:install"', fn () => $this->relay()->runOnce());
        $this->pdo->exec('alter table ' . Schema::OUTBOX . ' rename column options to older');
        $refused('run "delayqueue outbox:install"', static fn () => $outbox->push('orders', new NewJob(1)));
        $this->pdo->exec('drop table ' . Schema::OUTBOX);
        $refused('run "delayqueue outbox:install"', static fn () => $outbox->push('orders', new NewJob(1)));
        $refused('run "delayqueue outbox:install"', static fn () => $outbox->cancel('orders', 'a'));
        $this->pdo->exec('drop table ' . Schema::SOURCE);
        $refused('run "delayqueue outbox:install"', static fn () => $outbox->pushNow('orders', new NewJob(1)));
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testErrorsOfADatabaseThatDoesNotThrowAreThrown(string $server): void
    {
        $this->begin($server);
        $this->pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_SILENT);
        $this->pdo->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, true);
        $outbox = $this->outbox();
        $outbox->transaction(static fn () => $outbox->push('orders', new NewJob(1)));
        $this->relay()->runOnce();
        $this->assertSame([1], $this->work());
        $this->pdo->exec('alter table ' . Schema::OUTBOX . ' rename column placed to elsewhere');
        $this->expectException(SchemaException::class);
        $outbox->push('orders', new NewJob(1));
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testAnInstallationIsRepeatedAndKeepsItsWord(string $server): void
    {
        $this->begin($server);
        $word = $this->pdo->query('select source from ' . Schema::SOURCE)->fetchColumn();
        $this->assertMatchesRegularExpression('/^[0-9a-f]{8}$/', $word);
        Schema::install($this->pdo, true);
        $this->assertSame([[$word]], $this->pdo->query('select source from ' . Schema::SOURCE)->fetchAll(PDO::FETCH_NUM));

        $outbox = $this->outbox();
        $outbox->push('orders', new NewJob(1));
        $outbox->flush();
        $this->assertStringStartsWith("$word/", $this->queue()->receipts()[0]);
    }

    public function testPostgresqlDoesNotPassOverAnErrorThatWasCaught(): void
    {
        if (!in_array('postgresql', self::database('sqlite')::names(), true)) {
            $this->assertTrue(true, 'the others go on after an error');

            return;
        }
        $this->begin('postgresql');
        $outbox = $this->outbox();
        $this->expectExceptionMessage('25P02');
        $outbox->transaction(static function (PDO $pdo) use ($outbox): void {
            $outbox->push('orders', new NewJob(1));
            try {
                $pdo->exec('insert into nowhere values (1)');
            } catch (PDOException) {
                // COMMIT would roll back without a word.
            }
        });
    }

    public function testAnErrorOfAJobHasItsPartsForPrograms(): void
    {
        $this->begin('sqlite');
        $outbox = $this->outbox();
        $parts = static function (callable $push): array {
            try {
                $push();
            } catch (InvalidArgument $error) {
                return [$error->parameter, $error->item, $error->key, $error->reason];
            }

            return [];
        };
        $this->assertSame(
            ['job', null, 'ttr', 'must be greater than or equal to 0'],
            $parts(static fn () => $outbox->push('orders', ['payload' => 1, 'ttr' => -1])),
        );
        $this->assertSame(
            ['jobs', 1, 'delay', 'must be greater than or equal to 0'],
            $parts(static fn () => $outbox->pushMany('orders', [new NewJob(1), ['payload' => 1, 'delay' => -1]])),
        );
        $this->assertSame(
            ['job', null, 'unique', 'must be null: the row itself arrives once'],
            $parts(static fn () => $outbox->pushNow('orders', new NewJob(1, id: 'a', unique: 60))),
        );
        $this->assertSame(['ids', 0, 'id', 'must be between 1 and 200 bytes long'], $parts(static fn () => $outbox->cancel('orders', '')));
        $this->assertSame(0, $this->rows());
    }

    public function testIdsToCancelAreChecked(): void
    {
        $this->begin('sqlite');
        $outbox = $this->outbox();
        foreach (['', str_repeat('x', 201), "a\nb", "\xff"] as $wrong) {
            try {
                $outbox->cancel('orders', 'a', $wrong);
                $this->fail('it is refused');
            } catch (ValueError $error) {
                $this->assertStringStartsWith(Outbox::class . '::cancel(): Argument #2 ($ids) item 1: "id" must ', $error->getMessage());
            }
        }
        $this->assertSame(0, $this->rows());
        $this->expectExceptionMessage('::pushMany(): Argument #2 ($jobs) item 1 must be of type DelayQueue\NewJob|array, int given');
        $outbox->pushMany('orders', [['payload' => 1], 2]);
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testConnectionsOfEverySettingAreUnderstood(string $server): void
    {
        $this->begin($server);
        $settings = [PDO::ATTR_CASE => PDO::CASE_UPPER, PDO::ATTR_ORACLE_NULLS => PDO::NULL_TO_STRING, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_OBJ];
        if ($server === 'mariadb') {
            $settings[PDO::ATTR_EMULATE_PREPARES] = false;
        }
        foreach ($settings as $attribute => $value) {
            $this->pdo->setAttribute($attribute, $value);
        }
        $outbox = $this->outbox(journal: true);
        $outbox->transaction(static fn () => $outbox->push('orders', new NewJob(1, id: 'a')));
        $this->assertSame(1, $this->queue()->count());
        $this->assertSame(1, $outbox->cancel('orders', 'a'));
        $outbox->flush();
        $this->assertSame(0, $this->queue()->count());
        $this->relay()->drain();
        $this->assertSame(['rows' => 0, 'oldest' => null], $outbox->waiting());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAFunctionMayGiveTheApplicationsOwnConnection(string $server): void
    {
        $this->begin($server);
        $outbox = new Outbox(fn (): PDO => $this->pdo, fn (string $name): DelayQueue => $this->queue($name));
        $this->pdo->exec('alter table ' . Schema::OUTBOX . ' rename column placed to elsewhere');
        try {
            $outbox->push('orders', new NewJob(1));
            $this->fail('it is refused');
        } catch (SchemaException) {
        }
        $this->pdo->beginTransaction();
        try {
            $outbox->pushNow('orders', new NewJob(1));
            $this->fail('a transaction is open');
        } catch (LogicException) {
            $this->assertSame(0, $this->queue()->count());
        }
        $this->pdo->rollBack();
    }
}
