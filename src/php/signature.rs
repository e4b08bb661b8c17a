//! Reads declarations as PHP writes them, so that a class shows in Reflection exactly what its source line says:
//! `push(mixed $payload, int|string $delay = 0, ?string $id = null): string`.

/// A type: the engine's bits for it, and the classes among its alternatives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Type {
    /// The engine's `MAY_BE_*` bits.
    pub mask: u32,
    /// Class names, `|` between them; empty: none.
    pub classes: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub ty: Type,
    /// As written after `=`.
    pub default: Option<String>,
    pub variadic: bool,
    pub sensitive: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub is_static: bool,
    pub parameters: Vec<Parameter>,
    pub returns: Option<Type>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    pub name: String,
    pub ty: Type,
    pub readonly: bool,
    pub default: Option<String>,
}

/// `None` when the text is none; a test goes over every declaration there is.
#[must_use]
pub fn parse_method(text: &str) -> Option<Signature> {
    let (head, rest) = text.split_once('(')?;
    let (inner, tail) = rest.rsplit_once(')')?;
    let (is_static, name) = match head.strip_prefix("static ") {
        Some(name) => (true, name),
        None => (false, head),
    };
    let parameters = inner.split(", ").filter(|p| !p.is_empty()).map(parse_parameter).collect::<Option<_>>()?;
    let returns = match tail.strip_prefix(": ") {
        Some(ty) => Some(parse_type(ty)?),
        None if tail.is_empty() => None,
        None => return None,
    };
    Some(Signature { name: name.to_owned(), is_static, parameters, returns })
}

/// `readonly ?string $lastError` or `bool $ambiguous = false`
#[must_use]
pub fn parse_property(text: &str) -> Option<Property> {
    let (readonly, text) = match text.strip_prefix("readonly ") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let parameter = parse_parameter(text)?;
    Some(Property { name: parameter.name, ty: parameter.ty, readonly, default: parameter.default })
}

fn parse_parameter(text: &str) -> Option<Parameter> {
    let (sensitive, text) = match text.strip_prefix("#[\\SensitiveParameter] ") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (declared, default) = match text.split_once(" = ") {
        Some((declared, default)) => (declared, Some(default.to_owned())),
        None => (text, None),
    };
    let (ty, name) = declared.split_once('$')?;
    let (ty, variadic) = match ty.strip_suffix("...") {
        Some(ty) => (ty, true),
        None => (ty, false),
    };
    Some(Parameter { name: name.to_owned(), ty: parse_type(ty.trim_end())?, default, variadic, sensitive })
}

fn parse_type(text: &str) -> Option<Type> {
    let mut ty = Type::default();
    let text = match text.strip_prefix('?') {
        Some(rest) => {
            ty.mask |= bits("null")?;
            rest
        }
        None => text,
    };
    for word in text.split('|') {
        match bits(word) {
            Some(mask) => ty.mask |= mask,
            None if word.is_empty() => return None,
            None => {
                if !ty.classes.is_empty() {
                    ty.classes.push('|');
                }
                ty.classes.push_str(word.trim_start_matches('\\'));
            }
        }
    }
    Some(ty)
}

fn bits(word: &str) -> Option<u32> {
    use ext_php_rs::ffi;
    Some(match word {
        "null" => 1 << ffi::IS_NULL,
        "bool" => ffi::MAY_BE_BOOL,
        "int" => 1 << ffi::IS_LONG,
        "float" => 1 << ffi::IS_DOUBLE,
        "string" => 1 << ffi::IS_STRING,
        "array" => 1 << ffi::IS_ARRAY,
        "iterable" => ffi::_ZEND_TYPE_ITERABLE_BIT,
        "mixed" => ffi::MAY_BE_ANY,
        "callable" => super::sys::MAY_BE_CALLABLE,
        "void" => 1 << ffi::IS_VOID,
        "static" => super::sys::MAY_BE_STATIC,
        _ => return None,
    })
}
