<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\TestCase;

/** How scripts/suites.sh tells of suites that fail, are skipped, or run side by side. */
final class SuitesTest extends TestCase
{
    private Folder $folder;

    protected function setUp(): void
    {
        $this->folder = new Folder();
    }

    protected function tearDown(): void
    {
        $this->folder->remove();
    }

    public function testASuiteThatFailsIsReportedAndHidesNoLaterOne(): void
    {
        $this->tool('cargo', 'echo "test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured"; exit 101');
        [$said, $exitCode] = $this->account('suite "the bad one" test_core; suite "the good one" test_script echo "OK (5 tests, 9 assertions)"');
        $this->assertMatchesRegularExpression(
            '/^FAILED +\d+ s, +\d+ s of processor  the bad one: 4 tests passed, 1 failed, 0 ignored$/m',
            $said,
        );
        $this->assertMatchesRegularExpression(
            '/^passed +\d+ s, +\d+ s of processor  the good one: 5 tests, 9 assertions passed$/m',
            $said,
        );
        $this->assertStringContainsString('tests failed in: the bad one; their messages are above', $said);
        $this->assertSame(1, $exitCode);

        [$said, $exitCode] = $this->account('suite "the good one" test_script echo "OK (5 tests, 9 assertions)"');
        $this->assertStringContainsString('all suites passed', $said);
        $this->assertSame(0, $exitCode);
    }

    public function testTheAccountNamesTheTestsThatFailed(): void
    {
        $this->tool('cargo', 'echo "test good::one ... ok\ntest bad::two ... FAILED"; for i in $(seq 30); do echo "test many::$i ... FAILED"; done; exit 101');
        $this->file('bad.phpt', "--TEST--\na bad file\n--FILE--\n1\n--EXPECT--\n2\n");
        $this->file('BadTest.php', '<?php final class BadTest extends PHPUnit\Framework\TestCase { function testGood(): void { $this->assertTrue(true); } function testBad(): void { $this->assertTrue(false); } }');
        $this->file('phpunit.xml', '<phpunit><testsuites><testsuite name="one"><file>BadTest.php</file></testsuite></testsuites></phpunit>');
        [$said] = $this->account(
            "suite core test_core; suite surface test_surface {$this->folder->path}/bad.phpt; suite package test_phpunit {$this->folder->path}/phpunit.xml; "
            . 'suite pages test_script sh -c "echo not ok 7 - a page opens; echo browser: 1 passed; exit 1"; suite verb test_script sh -c "echo build.sh: failed: valgrind >&2; echo OK \\(1\\); exit 1"',
        );
        [, $account] = explode("==> test:\n", $said);
        $this->assertMatchesRegularExpression('/^FAILED .* core: .*\n +bad::two\n +many::1\n/m', $account);
        $this->assertMatchesRegularExpression('/^ +many::19\n +and 11 more\nFAILED/m', $account);
        $this->assertMatchesRegularExpression('/^FAILED .* surface: .*\n +FAIL a bad file \[.*bad\.phpt\]\nFAILED .* package: .*\n +BadTest::testBad\nFAILED .* pages: /m', $account);
        $this->assertMatchesRegularExpression('/^FAILED .* pages: .*\n +a page opens\nFAILED .* verb: .*\n +failed: valgrind$/m', $account);
    }

    public function testASkippedTestFailsItsSuite(): void
    {
        $this->tool('cargo', 'echo "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured"');
        $this->file('skipped.phpt', "--TEST--\nskipped\n--SKIPIF--\nskip\n--FILE--\n--EXPECT--\n");
        // Written for the suite under test alone, which has to fail for it.
        $this->file('SkippedTest.php', '<?php final class SkippedTest extends PHPUnit\Framework\TestCase { function testIt(): void { $this->markTestSkipped(); } }');
        $this->file('phpunit.xml', '<phpunit><testsuites><testsuite name="one"><file>SkippedTest.php</file></testsuite></testsuites></phpunit>');
        [$said, $exitCode] = $this->account(
            "suite core test_core; suite surface test_surface {$this->folder->path}/skipped.phpt; suite package test_phpunit {$this->folder->path}/phpunit.xml",
        );
        $this->assertMatchesRegularExpression(
            '/^FAILED +\d+ s, +\d+ s of processor  core: 4 tests passed, 0 failed, 1 ignored$/m',
            $said,
        );
        $this->assertMatchesRegularExpression(
            '/^FAILED +\d+ s, +\d+ s of processor  surface: '
                . '0 tests passed, 0 failed, 1 skipped, 0 passed only when tried again$/m',
            $said,
        );
        $this->assertMatchesRegularExpression(
            '/^FAILED +\d+ s, +\d+ s of processor  package: Tests: 1, .*Skipped: 1$/m',
            $said,
        );
        $this->assertSame(1, $exitCode);
    }

    public function testSuitesSideBySideAreReportedAsTheyAreOneAfterTheOther(): void
    {
        // Each waits for the other: one after the other, both would fail.
        $meet = 'touch "$0/$1"; for i in $(seq 300); do [ ! -e "$0/$2" ] || break; sleep 0.1; done; [ -e "$0/$2" ]';
        $this->tool('cargo', "sh -c '$meet' \"\$(dirname \"\$0\")\" bad good; echo first; sleep 1; echo 'test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured'; exit 101");
        $this->tool('good', "sh -c '$meet' \"\$(dirname \"\$0\")\" good bad || exit 1; echo 'OK (5 tests, 9 assertions)'");
        $suites = 'suite "the bad one" test_core; suite "the good one" test_script good; suite "the dead one" die "no more"; suite "the last one" test_script echo "core: 1 passed"';
        [$said, $exitCode] = $this->account("lanes=2; $suites");
        $this->assertStringContainsString("first\ntest result: FAILED. 4 passed", $said, 'what a suite says stands in one piece');
        $report = <<<'REGEXP'
            ~^==> test:
            FAILED +\d+ s, +\d+ s of processor  the bad one: 4 tests passed, 1 failed, 0 ignored
            passed +\d+ s, +\d+ s of processor  the good one: 5 tests, 9 assertions passed
            FAILED +the dead one: it ended before it had counted
            passed +\d+ s, +\d+ s of processor  the last one: core: 1 passed$~m
            REGEXP;
        $this->assertMatchesRegularExpression($report, $said);
        $this->assertStringContainsString('tests failed in: the bad one; the dead one; their messages are above', $said);
        $this->assertSame(1, $exitCode);
        foreach (['the bad one', 'the good one', 'the dead one', 'the last one'] as $suite) {
            $this->assertSame([1, 1], [substr_count($said, "==> $suite: started\n"), substr_count($said, "==> $suite: ended\n")]);
        }
    }

    public function testASkippedTestFailsItsSuiteBesideOthers(): void
    {
        $this->tool('cargo', 'echo "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured"');
        [$said, $exitCode] = $this->account('lanes=3; suite core test_core; suite "the good one" test_script echo "OK (5 tests, 9 assertions)"');
        $this->assertMatchesRegularExpression(
            '/^FAILED +\d+ s, +\d+ s of processor  core: 4 tests passed, 0 failed, 1 ignored$/m',
            $said,
        );
        $this->assertStringContainsString('tests failed in: core; their', $said);
        $this->assertSame(1, $exitCode);
    }

    public function testSettingsThatSuitesShareAreMadeAnewOnlyWhereTheyDiffer(): void
    {
        $make = 'use_built_extension; stat --format=%i "$PHP_INI_SCAN_DIR"; ';
        [$said] = $this->account("$make $make extension=/elsewhere.so; $make tail -n 1 \"\$PHP_INI_SCAN_DIR/99-delayqueue.ini\"");
        [$first, $again, $other, $ini] = explode("\n", $said);
        $this->assertSame($first, $again);
        $this->assertNotSame($first, $other);
        $this->assertSame('extension=/elsewhere.so', $ini);
        $this->assertSame(['php.d'], array_values(array_diff(scandir("{$this->folder->path}/target"), ['.', '..'])));
    }

    public function testCtrlCEndsAllSuitesThatRunSideBySide(): void
    {
        $this->tool('long', 'echo $$ >"$(dirname "$0")/$1"; sleep 1000; :');
        $verb = $this->suites('lanes=2; suite one test_script long 1; suite two test_script long 2; account test', ['env', '--default-signal=INT']);
        $process = fn (int $suite): int => (int) @file_get_contents("{$this->folder->path}/$suite");
        Wait::until(static fn (): bool => $process(1) > 0 && $process(2) > 0, 30, 'both suites have begun');
        $verb->signal(SIGINT);
        $this->assertSame(130, $verb->exitCode(30));
        Wait::until(static fn (): bool => !posix_kill($process(1), 0) && !posix_kill($process(2), 0), 30, 'both have ended');
    }

    /**
     * Runs suites as scripts/test.sh does.
     *
     * @return array{string, int} all that was said, and the exit code
     */
    private function account(string $suites): array
    {
        $verb = $this->suites("$suites; account test");
        $said = $verb->rest(60);
        $exitCode = $verb->exitCode();

        return [$said . $verb->errors(), $exitCode];
    }

    /** @param list<string> $launcher */
    private function suites(string $suites, array $launcher = []): Process
    {
        $environment = ['CARGO_TARGET_DIR' => "{$this->folder->path}/target", 'PHPUNIT' => $_SERVER['argv'][0]] + $this->environment();
        $script = "set -euo pipefail; cd \"\$1\"; source scripts/common.sh; source scripts/suites.sh; find_php; extension=\$2; $suites";

        return new Process([...$launcher, 'bash', '-c', $script, 'bash', dirname(__DIR__, 2), Php::extension()], $environment);
    }

    /** @return array<string, string> */
    private function environment(): array
    {
        return ['PATH' => "{$this->folder->path}:" . getenv('PATH'), 'PHP' => PHP_BINARY] + getenv();
    }

    private function file(string $name, string $content): void
    {
        file_put_contents("{$this->folder->path}/$name", $content);
    }

    private function tool(string $name, string $does): void
    {
        $this->file($name, "#!/bin/sh\n$does\n");
        chmod("{$this->folder->path}/$name", 0o700);
    }
}
