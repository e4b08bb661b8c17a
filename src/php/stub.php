<?php

/**
 * Reads the stub by Reflection, as php-src's gen_stub does, and writes what the extension declares as Rust: classes.rs, what the code names of a
 * class, and declarations.rs, what the engine is told of it. Run by build.rs:
 *
 *     php -n src/php/stub.php stubs/delayqueue.stub.php FOLDER
 */

declare(strict_types=1);

[, $stub, $folder] = $argv;
require $stub;

/** `\DelayQueue\JobInfo` as `job_info` or `JOB_INFO`, `keepAlive` as `keep_alive`. */
function snake(string $name): string
{
    $name = ltrim(strrchr("\\$name", '\\'), '\\_');
    return strtolower(preg_replace('/(?<=[a-z])(?=[A-Z])/', '_', $name));
}

/** As a Rust string. */
function text(string $text): string
{
    return '"' . addcslashes($text, "\\\"\n") . '"';
}

function option(?string $rust): string
{
    return $rust === null ? 'None' : "Some($rust)";
}

function rows(iterable $rows): string
{
    return '&[' . implode(', ', [...$rows]) . ']';
}

function refuse(string $where, string $why): never
{
    fwrite(STDERR, "$where of the stub $why\n");
    exit(1);
}

/** A type: the engine's bits for it, and its classes with | between them. */
function type(?ReflectionType $type, string $where, bool $isVariadic = false): array
{
    static $bits = ['array', 'bool', 'callable', 'float', 'int', 'iterable', 'mixed', 'null', 'static', 'string', 'void'];
    $type ?? refuse($where, 'has no type');
    $members = $type instanceof ReflectionUnionType ? $type->getTypes() : [$type];
    $names = array_map(fn(ReflectionType $member): string => $member instanceof ReflectionNamedType
        ? $member->getName()
        : refuse($where, "has the type $member, which stub.php cannot read"), $members);
    if ($type->allowsNull() && !array_intersect(['mixed', 'null'], $names)) {
        $names[] = 'null';
    }
    $scalars = array_map(fn(string $name): string => 'types::' . strtoupper($name), array_intersect($names, $bits));
    if ($isVariadic) {
        $scalars[] = 'types::VARIADIC';
    }
    $classes = implode('|', array_diff($names, $bits));
    return [implode(' | ', $scalars) ?: '0', $classes === '' ? 'None' : 'Some(c' . text($classes) . ')'];
}

/** A default value as PHP writes it. */
function expression(mixed $value): string
{
    return match (true) {
        $value instanceof UnitEnum => '\\' . $value::class . "::$value->name",
        $value === null => 'null',
        $value === [] => '[]',
        default => var_export($value, true),
    };
}

function parameter(ReflectionParameter $p, string $where): string
{
    [$mask, $classes] = type($p->getType(), "$where, \$$p->name", $p->isVariadic());
    $default = $p->isDefaultValueAvailable() ? 'c' . text(expression($p->getDefaultValue())) : null;
    return "Argument::parameter(c\"$p->name\", $mask, $classes, " . option($default) . ')';
}

/** The numbers of the parameters that traces must not show. */
function sensitive(ReflectionMethod $method): iterable
{
    foreach ($method->getParameters() as $p) {
        foreach ($p->getAttributes() as $attribute) {
            $attribute->getName() === SensitiveParameter::class ||
                refuse("$method->class::$method->name(), \$$p->name", 'has an attribute that stub.php does not know');
            yield $p->getPosition();
        }
    }
}

/** The return type, and the parameters. */
function arguments(ReflectionFunctionAbstract $function, string $where): string
{
    $required = $function->getNumberOfRequiredParameters();
    $isConstructor = $function instanceof ReflectionMethod && $function->isConstructor();
    [$mask, $classes] = $isConstructor ? ['0', 'None'] : type($function->getReturnType(), $where);
    $arguments = ["Argument::returned($required, $mask, $classes)"];
    foreach ($function->getParameters() as $p) {
        $arguments[] = parameter($p, $where);
    }
    return rows($arguments);
}

function a_function(ReflectionFunction $function): string
{
    return 'Method { name: c' . text($function->name) . ', handler: Some(handler!(code::functions::' . snake($function->name)
        . '(call))), is_static: false, arguments: ' . arguments($function, "$function->name()") . ', sensitive: &[] }';
}

function method(ReflectionMethod $method): string
{
    $class = $method->getDeclaringClass();
    $where = "$method->class::$method->name()";
    $method->isPublic() || refuse($where, 'is not public');
    $passed = [...($method->isStatic() || $method->isConstructor() ? [] : ['this']), ...($method->getParameters() === [] ? [] : ['call'])];
    $code = $class->isInterface() ? 'None' : 'Some(handler!(code::' . snake($class->name) . '::' . snake($method->name)
        . '(' . implode(', ', $passed) . ')))';
    return "Method { name: c\"$method->name\", handler: $code, is_static: " . var_export($method->isStatic(), true)
        . ', arguments: ' . arguments($method, $where) . ', sensitive: ' . rows(sensitive($method)) . ' }';
}

function property(ReflectionProperty $property): string
{
    $where = "$property->class::\$$property->name";
    $property->isPublic() && !$property->isStatic() || refuse($where, 'is not a public property of objects');
    [$mask, $classes] = type($property->getType(), $where);
    $initial = !$property->hasDefaultValue() ? 'Undefined' : match ($property->getDefaultValue()) {
        false => 'False',
        '' => 'EmptyText',
        [] => 'EmptyArray',
        null => 'Null',
        default => refuse($where, 'has a default that stub.php does not know'),
    };
    return 'Property { name: ' . text($property->name) . ", mask: $mask, classes: $classes, is_readonly: "
        . var_export($property->isReadOnly(), true) . ", initial: Initial::$initial }";
}

/** The value of a constant is the one that the Rust code has: the version is that of Cargo.toml. */
function constant_of(ReflectionClassConstant $constant): string
{
    $class = $constant->getDeclaringClass();
    $value = 'code::' . snake($class->name) . "::$constant->name";
    $value = is_int($constant->getValue()) ? "Constant::Int($value as i64)" : "Constant::Text($value)";
    return '(' . text($constant->name) . ", $value)";
}

/** The interfaces that the class adds to its parents. Of a class with __toString() the engine says by itself that it is Stringable. */
function interfaces(ReflectionClass $class): array
{
    $names = array_diff($class->getInterfaceNames(), $class->getParentClass() ? $class->getParentClass()->getInterfaceNames() : []);
    $inherited = array_merge([Stringable::class], ...array_map(fn(string $name): array => (new ReflectionClass($name))->getInterfaceNames(), $names));
    return array_values(array_diff($names, $inherited));
}

/** The members that the class itself declares. */
function own(ReflectionClass $class, array $members): array
{
    return array_values(array_filter($members, fn(object $member): bool => $member->getDeclaringClass()->name === $class->name));
}

/** Whether objects of the class are values that the extension makes, and not exceptions. */
function is_value(ReflectionClass $class): bool
{
    return $class->isFinal() && !$class->isEnum() && !$class->isSubclassOf(Throwable::class);
}

function has_objects(ReflectionClass $class): bool
{
    return $class->getProperties() !== [] || array_filter($class->getMethods(), fn(ReflectionMethod $method): bool => !$method->isStatic()) !== [];
}

function declaration(ReflectionClass $class): string
{
    $own = fn(array $members): array => own($class, $members);
    $kind = match (true) {
        $class->isEnum() => 'Enum',
        $class->isInterface() => 'Interface',
        $class->isFinal() => 'Final',
        default => 'Open',
    };
    $constants = $class->isEnum() ? [] : array_map(constant_of(...), $own($class->getReflectionConstants()));
    $fields = [
        'class' => '&classes::' . strtoupper(snake($class->name)),
        'kind' => "ClassKind::$kind",
        'parent' => option($class->getParentClass() ? text($class->getParentClass()->name) : null),
        'interfaces' => rows($class->isEnum() ? [] : array_map(text(...), interfaces($class))),
        'constants' => rows($constants),
        'cases' => $class->isEnum() ? 'classes::cases::' . $class->getShortName() . '::NAMES_AND_VALUES' : '&[]',
        'properties' => rows($class->isEnum() ? [] : array_map(property(...), $own($class->getProperties()))),
        'methods' => '&[' . implode(",\n            ", $class->isEnum() ? [] : array_map(method(...), $own($class->getMethods()))) . ']',
        'create' => is_value($class) ? 'code::' . snake($class->name) . '::CREATE' : 'None',
    ];
    $lines = array_map(fn(string $name, string $value): string => "        $name: $value,\n", array_keys($fields), $fields);
    return "    Declaration {\n" . implode($lines) . "    },\n";
}

/** The properties of an object, by their names. */
function fields(ReflectionClass $class): string
{
    $names = array_map(fn(ReflectionProperty $property): string => $property->name, own($class, $class->getProperties()));
    $fields = implode(array_map(fn(string $name): string => '        pub ' . snake($name) . ": Zval,\n", $names));
    $slots = implode(', ', array_map(fn(string $name): string => 'self.' . snake($name), $names));
    return "    pub struct {$class->getShortName()} {\n$fields    }\n"
        . "    impl Properties for {$class->getShortName()} {\n"
        . '        const NAMES: &\'static [&\'static str] = ' . rows(array_map(text(...), $names)) . ";\n"
        . '        fn class() -> &\'static Class { &super::' . strtoupper(snake($class->name)) . " }\n"
        . "        fn into_slots(self) -> Vec<Zval> { vec![$slots] }\n    }\n";
}

function cases(ReflectionEnum $enum): string
{
    $name = $enum->getShortName();
    $cases = $enum->getCases();
    $names = array_map(fn(ReflectionEnumBackedCase $case): string => $case->name, $cases);
    $values = array_map(fn(ReflectionEnumBackedCase $case): string => '(' . text($case->name) . ', ' . text($case->getBackingValue()) . ')', $cases);
    return "    #[derive(Debug, Clone, Copy, PartialEq, Eq)]\n    pub enum $name { " . implode(', ', $names) . " }\n"
        . "    impl $name { pub const NAMES_AND_VALUES: &'static [(&'static str, &'static str)] = " . rows($values) . "; }\n"
        . "    impl Case for $name {\n"
        . '        const ALL: &\'static [Self] = ' . rows(array_map(fn(string $case): string => "Self::$case", $names)) . ";\n"
        . '        fn class() -> &\'static Class { &super::' . strtoupper(snake($enum->name)) . " }\n"
        . "        fn name(self) -> &'static str { match self { "
        . implode(', ', array_map(fn(string $case): string => "Self::$case => " . text($case), $names)) . " } }\n    }\n";
}

/** Parents before children. */
function add(string $name, array &$ordered): void
{
    $class = new ReflectionClass($name);
    if ($class->isInternal() || isset($ordered[$name])) {
        return;
    }
    foreach ([...$class->getInterfaceNames(), ...($class->getParentClass() ? [$class->getParentClass()->name] : [])] as $above) {
        add($above, $ordered);
    }
    $ordered[$name] = $class->isEnum() ? new ReflectionEnum($name) : $class;
}

$ordered = [];
foreach ([...get_declared_interfaces(), ...get_declared_classes()] as $name) {
    add($name, $ordered);
}
$statics = array_map(fn(ReflectionClass $class): string =>
    'pub static ' . strtoupper(snake($class->name)) . ': Class = Class::new(' . text($class->name) . ");\n", $ordered);
$enums = array_filter($ordered, fn(ReflectionClass $class): bool => $class->isEnum());
$values = array_filter($ordered, fn(ReflectionClass $class): bool => is_value($class) && has_objects($class));

$push = array_map(fn(ReflectionParameter $p): string => text($p->name), ($ordered['DelayQueue'] ?? null)?->getMethod('push')->getParameters() ?? []);
$functions = array_map(fn(string $name): ReflectionFunction => new ReflectionFunction($name), get_defined_functions()['user']);
$functions = array_filter($functions, fn(ReflectionFunction $function): bool => $function->getFileName() === realpath($stub));
$declarations = array_map(declaration(...), $ordered);
$written = [
    'classes.rs' => implode($statics)
        . "/// The properties of objects, by their names.\npub mod properties {\n    use super::{Class, Properties};\n"
        . "    use ext_php_rs::types::Zval;\n" . implode(array_map(fields(...), $values)) . "}\n"
        . "/// The names of parameters.\npub mod parameters {\n    pub const PUSH: [&str; " . count($push) . '] = [' . implode(', ', $push) . "];\n}\n"
        . "/// The enums.\npub mod cases {\n    use super::{Case, Class};\n" . implode(array_map(cases(...), $enums)) . "}\n",
    'declarations.rs' => '/// Parents before children.
static DECLARATIONS: [Declaration; ' . count($ordered) . "] = [\n" . implode($declarations) . "];\nstatic FUNCTIONS: &[Method] = "
        . rows(array_map(a_function(...), $functions)) . ";\n",
];
foreach ($written as $file => $rust) {
    file_put_contents("$folder/$file", $rust) !== false || exit(1);
}
