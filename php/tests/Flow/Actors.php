<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\QueueInterface;
use Fiber;
use RuntimeException;
use Throwable;

/** Two programs that use one queue, and stop before each of their requests; so a test decides who goes on. */
final class Actors
{
    /** Most mistakes that an order can show need one or two. */
    private const MOST_SWITCHES = 3;

    /** @var list<Fiber> */
    private array $fibers = [];

    /** @param callable(QueueInterface): mixed $program */
    public function add(QueueInterface $real, callable $program): void
    {
        $this->fibers[] = new Fiber(static fn () => $program(StoppingQueue::of($real)));
    }

    /**
     * Plays a scene in each order that its actors can have with so many switches from one to the other.
     *
     * @param callable(self): (callable(): void) $scene adds two actors, and gives the checks for their end
     * @param list<int> $switches the turns before which the other one goes on
     *
     * @return int how many orders there are
     */
    public static function inEachOrder(callable $scene, array $switches = []): int
    {
        $actors = new self();
        $check = $scene($actors);
        try {
            $turns = $actors->run($switches);
            $check();
        } catch (Throwable $error) {
            throw new RuntimeException('switches before the turns ' . implode(', ', $switches) . ": {$error->getMessage()}", 0, $error);
        }
        $orders = 1;
        $last = $switches === [] ? -1 : end($switches);
        for ($turn = $last + 1; $turn < $turns && count($switches) < self::MOST_SWITCHES; ++$turn) {
            $orders += self::inEachOrder($scene, [...$switches, $turn]);
        }

        return $orders;
    }

    /**
     * Plays a scene with one actor that dies before its first request, its second one …
     *
     * @param callable(self): (callable(): void) $scene
     *
     * @return int in how many places it can die
     */
    public static function dyingAnywhere(callable $scene): int
    {
        for ($place = 0, $isAlive = true; $isAlive; ++$place) {
            $actors = new self();
            $check = $scene($actors);
            $actor = array_pop($actors->fibers);
            $actor->start();
            for ($request = 0; $request < $place && !$actor->isTerminated(); ++$request) {
                $actor->resume();
            }
            $isAlive = !$actor->isTerminated();
            unset($actor);
            try {
                $check();
            } catch (Throwable $error) {
                throw new RuntimeException("dead before request $place: {$error->getMessage()}", 0, $error);
            }
        }

        return $place - 1;
    }

    /**
     * @param list<int> $switches
     *
     * @return int the turns in which both could go on
     */
    private function run(array $switches): int
    {
        foreach ($this->fibers as $fiber) {
            $fiber->start();
        }
        [$one, $other] = $this->fibers;
        for ($turn = 0; !$one->isTerminated() && !$other->isTerminated(); ++$turn) {
            if (in_array($turn, $switches, true)) {
                [$one, $other] = [$other, $one];
            }
            $one->resume();
        }
        $left = $one->isTerminated() ? $other : $one;
        while (!$left->isTerminated()) {
            $left->resume();
        }

        return $turn;
    }
}
