<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\Console\Worker\Crew;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Wait;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Console\Output\BufferedOutput;

/** Which workers a pool that follows the load may add, and which one it ends. The workers are small scripts. */
final class CrewTest extends TestCase
{
    private const READY = 'printf \'place {"queues":["q"],"redis":"r","prefix":"p"}\nready\n\' >&3; ';

    private BufferedOutput $output;

    private Folder $folder;

    protected function setUp(): void
    {
        class_exists(BufferedOutput::class) || require_once 'Symfony/Component/Console/autoload.php';
        $this->output = new BufferedOutput();
        $this->folder = new Folder();
    }

    protected function tearDown(): void
    {
        $this->folder->remove();
    }

    public function testAWorkerIsAddedInTheFirstFreePlaceAndTheNewestIsTheFirstToEnd(): void
    {
        $crew = $this->crew(self::READY . 'exec sleep 60');
        $this->tendUntil($crew, static fn (): bool => count($crew->children()) === 2);
        $this->assertTrue($crew->isSteady() && $crew->mayGrow());
        $this->assertSame(['worker 3', 'worker 4'], $crew->grow(2));
        $this->assertSame(4, $crew->size());
        $this->tendUntil($crew, static fn (): bool => count($crew->children()) === 4);
        $this->assertSame(['worker 4', 'worker 3'], [$crew->shrink(), $crew->shrink()]);
        $this->assertSame([2, ['worker 3']], [$crew->size(), $crew->grow(1)]);
        $this->end($crew);
        $this->assertSame(4, preg_match_all('/ended|was stopped/', $this->output->fetch()));
    }

    public function testNobodyIsAddedWhileThePlaceOfACrashedWorkerIsEmpty(): void
    {
        $crew = $this->crew(self::READY . 'exit 9');
        $this->tendUntil($crew, static fn (): bool => !$crew->mayGrow());
        $this->assertSame(2, $crew->size());
        $this->end($crew);
    }

    public function testAWorkerThatEndsWellKeepsNobodyFromBeingAdded(): void
    {
        $crew = $this->crew(self::READY . 'exit 0');
        $this->tendUntil($crew, fn (): bool => str_contains($this->output->fetch(), 'another starts'));
        $this->assertTrue($crew->mayGrow());
        $this->end($crew);
    }

    public function testNobodyIsAddedOnceAnOperatorHasStoppedOne(): void
    {
        // mkdir works once: for one of the two.
        $crew = $this->crew(self::READY . "mkdir {$this->folder->path}/first 2>/dev/null && printf 'stopped\\n' >&3 && exit 0; exec sleep 60");
        $this->tendUntil($crew, static fn (): bool => $crew->size() === 1);
        $this->assertFalse($crew->mayGrow());
        $this->assertTrue($crew->isSteady());
        $this->end($crew);
    }

    public function testHeldStoppingAndReloadingWorkersAreLeftAsTheyAre(): void
    {
        $crew = $this->crew(self::READY . 'exec sleep 60');
        $this->assertFalse($crew->isSteady(), 'it has not begun');
        $this->tendUntil($crew, static fn (): bool => count($crew->children()) === 2);
        $crew->hold(true);
        $this->assertFalse($crew->isSteady());
        $crew->hold(false);
        $this->assertTrue($crew->isSteady());
        $crew->reload();
        $this->assertFalse($crew->isSteady());
        $this->end($crew);
        $this->assertFalse($crew->isSteady());
    }

    private function crew(string $script): Crew
    {
        return new Crew(['sh', '-c', $script], 2, null, false, new Notices($this->output, false), static fn (): bool => false);
    }

    /** @param callable(): bool $condition */
    private function tendUntil(Crew $crew, callable $condition): void
    {
        Wait::until(static function () use ($crew, $condition): bool {
            $crew->tend();

            return $condition();
        }, 20, 'the workers are as the test wants them');
    }

    private function end(Crew $crew): void
    {
        $crew->stop();
        $this->tendUntil($crew, static fn (): bool => $crew->isOver());
    }
}
