<?php
/*
 * Reads the documentation of a stub with PHPStan's parser: every tag has to parse, every name in a type has to be a type of PHPStan's, an alias
 * that the class declares or imports, or a class; and PHPStan's and Psalm's aliases have to be the same.
 *
 *     php -n -d extension=tokenizer -d extension=ctype tests/tools/stub_types.php stubs/delayqueue.stub.php
 *
 * Prints each fault, and exits with 1 if there is one.
 */
declare(strict_types=1);

use PHPStan\PhpDocParser\Ast\PhpDoc\InvalidTagValueNode;
use PHPStan\PhpDocParser\Ast\PhpDoc\PhpDocNode;
use PHPStan\PhpDocParser\Ast\PhpDoc\TypeAliasImportTagValueNode;
use PHPStan\PhpDocParser\Ast\PhpDoc\TypeAliasTagValueNode;
use PHPStan\PhpDocParser\Ast\Type\IdentifierTypeNode;
use PHPStan\PhpDocParser\Lexer\Lexer;
use PHPStan\PhpDocParser\Parser\ConstExprParser;
use PHPStan\PhpDocParser\Parser\PhpDocParser;
use PHPStan\PhpDocParser\Parser\TokenIterator;
use PHPStan\PhpDocParser\Parser\TypeParser;

require '/usr/share/php/PHPStan/PhpDocParser/autoload.php';

const KNOWN = ['array', 'array-key', 'bool', 'callable', 'class-string', 'false', 'float', 'int', 'iterable', 'list', 'max', 'min', 'mixed', 'never',
    'non-empty-array', 'non-empty-list', 'non-empty-string', 'non-negative-int', 'null', 'numeric-string', 'object', 'positive-int', 'self', 'static',
    'string', 'true', 'void', '$this'];

require $argv[1];

$expressions = new ConstExprParser();
$parser = new PhpDocParser(new TypeParser($expressions), $expressions);
$faults = [];
$blocks = 0;

function parse(string $comment): PhpDocNode
{
    global $parser, $blocks;
    $blocks++;

    return $parser->parse(new TokenIterator((new Lexer())->tokenize($comment)));
}

/** @return array<string, string> aliases of a class: their names and types. PHPStan reads those of Psalm, too. */
function aliases(PhpDocNode $doc): array
{
    $aliases = [];
    foreach ($doc->getTags() as $tag) {
        if ($tag->value instanceof TypeAliasTagValueNode) {
            $aliases[$tag->value->alias] = (string) $tag->value->type;
        }
        if ($tag->value instanceof TypeAliasImportTagValueNode) {
            $aliases[$tag->value->importedAs ?? $tag->value->importedAlias] = 'of ' . $tag->value->importedFrom;
        }
    }

    return $aliases;
}

/** @return list<string> the names in a part of a syntax tree */
function names(mixed $node): array
{
    if ($node instanceof IdentifierTypeNode) {
        return [$node->name];
    }

    $parts = is_object($node) ? get_object_vars($node) : (is_array($node) ? $node : []);
    // The keys of array shapes look like types.
    unset($parts['keyName']);

    return array_merge([], ...array_map(names(...), array_values($parts)));
}

/** @param array<string, string> $aliases */
function check(string $where, PhpDocNode $doc, array $aliases): void
{
    global $faults;
    $namespace = (new ReflectionClass(strtok($where, ':')))->getNamespaceName();
    foreach ($doc->getTags() as $tag) {
        if ($tag->value instanceof InvalidTagValueNode) {
            $faults[] = "$where: $tag->name {$tag->value->value}: {$tag->value->exception->getMessage()}";
        }
        foreach (names($tag->value) as $name) {
            $absolute = $name[0] === '\\' ? $name : "$namespace\\$name";
            $isClass = class_exists($absolute, false) || interface_exists($absolute, false);
            if (!$isClass && !in_array($name, KNOWN, true) && !isset($aliases[$name])) {
                $faults[] = "$where: $tag->name names $name, which is no type, no alias of this class and no class";
            }
        }
    }
}

$classes = array_filter([...get_declared_classes(), ...get_declared_interfaces()], static fn (string $class) => (new ReflectionClass($class))->getFileName() === realpath($argv[1]));
foreach ($classes as $class) {
    $reflection = new ReflectionClass($class);
    $own = parse($reflection->getDocComment() ?: '/** */');
    $aliases = aliases($own);
    check($class, $own, $aliases);
    foreach ([...$reflection->getMethods(), ...$reflection->getProperties(), ...$reflection->getReflectionConstants()] as $member) {
        if ($member->class === $class && $member->getDocComment() !== false) {
            check("$class::{$member->name}", parse($member->getDocComment()), $aliases);
        }
    }
}
count($classes) < 10 && $faults[] = 'there are fewer than ten classes in it';
foreach ($faults as $fault) {
    echo "$fault\n";
}
printf("types: %d comments of %d classes read, %d faults\n", $blocks, count($classes), count($faults));
exit($faults === [] ? 0 : 1);
