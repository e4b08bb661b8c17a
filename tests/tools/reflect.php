<?php

/**
 * Prints the public surface of DelayQueue as JSON, in a form that can be compared: of a stub, or of the loaded extension.
 *
 *     php -n tests/tools/reflect.php stubs/delayqueue.stub.php
 *     php -d extension=delayqueue tests/tools/reflect.php
 */

declare(strict_types=1);

if (isset($argv[1])) {
    require $argv[1];
}

/** The order of a union's members means nothing, and PHP 8.5 names the class where a stub says self. */
function type(?ReflectionType $type, string $self = 'self'): ?string
{
    if ($type === null) {
        return null;
    }
    $parts = explode('|', preg_replace('/^\?(.*)$/', '$1|null', (string) $type));
    $parts = str_replace('self', $self, $parts);
    sort($parts);
    return implode('|', $parts);
}

function value(mixed $value): string
{
    return $value instanceof UnitEnum ? '\\' . $value::class . '::' . $value->name : var_export($value, true);
}

function attributes(ReflectionParameter $parameter): array
{
    return array_map(fn(ReflectionAttribute $a): string => $a->getName(), $parameter->getAttributes());
}

function parameter(ReflectionParameter $p): array
{
    return array_filter([
        'type' => type($p->getType()),
        'default' => $p->isDefaultValueAvailable() ? value($p->getDefaultValue()) : null,
        'optional' => $p->isOptional(),
        'variadic' => $p->isVariadic(),
        'byReference' => $p->isPassedByReference(),
        'attributes' => attributes($p),
    ]) + ['name' => $p->getName()];
}

function method(ReflectionMethod $m): array
{
    return [
        'modifiers' => implode(' ', Reflection::getModifierNames($m->getModifiers())),
        'returns' => type($m->getReturnType() ?? $m->getTentativeReturnType(), $m->class),
        'parameters' => array_map(parameter(...), $m->getParameters()),
    ];
}

function property(ReflectionProperty $p): array
{
    return [
        'modifiers' => implode(' ', Reflection::getModifierNames($p->getModifiers())),
        'type' => type($p->getType()),
        'default' => $p->hasDefaultValue() ? value($p->getDefaultValue()) : null,
    ];
}

function constant_of(ReflectionClassConstant $c): array
{
    $value = $c->getValue();
    $backed = $value instanceof BackedEnum ? ['backed' => value($value->value)] : [];
    return ['visibility' => implode(' ', Reflection::getModifierNames($c->getModifiers())), 'value' => value($value)] + $backed;
}

function describe(ReflectionClass $c): array
{
    $interfaces = $c->getInterfaceNames();
    sort($interfaces);
    $mine = fn(string $get, callable $describe): array => array_reduce(
        array_filter($c->$get(), fn($x): bool => $x->getDeclaringClass()->getName() === $c->getName()),
        fn(array $all, $x): array => $all + [$x->getName() => $describe($x)],
        [],
    );
    $constants = $mine('getReflectionConstants', constant_of(...));
    $methods = $mine('getMethods', method(...));
    if (!$c->isEnum()) {
        ksort($constants); // the order of enum cases counts
    }
    ksort($methods);
    return [
        'kind' => $c->isInterface() ? 'interface' : ($c->isEnum() ? 'enum' : 'class'),
        'final' => $c->isFinal(),
        'abstract' => !$c->isInterface() && $c->isAbstract(),
        'parent' => $c->getParentClass() ? $c->getParentClass()->getName() : null,
        'interfaces' => $interfaces,
        'constants' => $constants,
        'properties' => $mine('getProperties', property(...)),
        'methods' => $methods,
    ];
}

$surface = [];
foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $name) {
    if ($name === 'DelayQueue' || str_starts_with($name, 'DelayQueue\\')) {
        $surface[$name] = describe(new ReflectionClass($name));
    }
}
ksort($surface);
echo json_encode($surface, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), "\n";
