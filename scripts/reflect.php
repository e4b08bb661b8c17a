<?php

/**
 * Prints, as JSON, every class that delayqueue declares: what a stub and the extension must agree on.
 *
 *     php -n reflect.php stubs/delayqueue.stub.php          what the stub says
 *     php -n -d extension=delayqueue reflect.php            what the extension says
 */

declare(strict_types=1);

if (isset($argv[1])) {
    require $argv[1];
}

function describeType(?ReflectionType $type): ?string
{
    if (!$type instanceof ReflectionUnionType) {
        return $type === null ? null : (string) $type;
    }
    $names = array_map(strval(...), $type->getTypes());
    sort($names);

    return implode('|', $names);
}

function describeDefault(ReflectionParameter $parameter): mixed
{
    if (!$parameter->isDefaultValueAvailable()) {
        return 'none';
    }
    $value = $parameter->getDefaultValue();

    return $value instanceof UnitEnum ? $value::class . '::' . $value->name : var_export($value, true);
}

/** @return array<string, mixed> */
function describeMethod(ReflectionMethod $method): array
{
    return [
        'modifiers' => implode(' ', Reflection::getModifierNames($method->getModifiers())),
        'returns' => describeType($method->getReturnType() ?? $method->getTentativeReturnType()),
        'parameters' => array_map(static fn (ReflectionParameter $parameter): array => [
            'name' => $parameter->getName(),
            'type' => describeType($parameter->getType()),
            'default' => describeDefault($parameter),
            'variadic' => $parameter->isVariadic(),
            'reference' => $parameter->isPassedByReference(),
            'attributes' => array_map(static fn (ReflectionAttribute $a): string => $a->getName(), $parameter->getAttributes()),
        ], $method->getParameters()),
    ];
}

/**
 * @param ReflectionClass<object> $class
 *
 * @return array<string, mixed>
 */
function describeClass(ReflectionClass $class): array
{
    $own = static fn (ReflectionMethod|ReflectionProperty|ReflectionClassConstant $member): bool
        => $member->getDeclaringClass()->getName() === $class->getName();
    $interfaces = $class->getInterfaceNames();
    sort($interfaces);
    $description = [
        'kind' => $class->isInterface() ? 'interface' : ($class->isEnum() ? 'enum' : 'class'),
        'final' => $class->isFinal(),
        'parent' => ($class->getParentClass() ?: null)?->getName(),
        'interfaces' => $interfaces,
        'constants' => [],
        'properties' => [],
        'methods' => [],
    ];
    foreach (array_filter($class->getReflectionConstants(), $own) as $constant) {
        $value = $constant->getValue();
        $description['constants'][$constant->getName()] = [
            'modifiers' => implode(' ', Reflection::getModifierNames($constant->getModifiers())),
            'value' => $value instanceof BackedEnum ? $value->value : $value,
        ];
    }
    foreach (array_filter($class->getProperties(), $own) as $property) {
        $description['properties'][$property->getName()] = [
            'modifiers' => implode(' ', Reflection::getModifierNames($property->getModifiers())),
            'type' => describeType($property->getType()),
            'default' => $property->hasDefaultValue() ? var_export($property->getDefaultValue(), true) : 'none',
        ];
    }
    foreach (array_filter($class->getMethods(), $own) as $method) {
        // A private constructor only says that there is no public one; `new` is tested for each such class.
        if (!$method->isPrivate()) {
            $description['methods'][$method->getName()] = describeMethod($method);
        }
    }
    foreach (['constants', 'properties', 'methods'] as $members) {
        ksort($description[$members]);
    }

    return $description;
}

$classes = [];
foreach (array_merge(get_declared_classes(), get_declared_interfaces()) as $name) {
    if ($name === DelayQueue::class || str_starts_with($name, 'DelayQueue\\')) {
        $classes[$name] = describeClass(new ReflectionClass($name));
    }
}
ksort($classes);
echo json_encode($classes, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR), "\n";
