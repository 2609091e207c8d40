//! What an attribute says of a field, or of the type.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, LitStr, Member, Path, Token, parse_quote};

/// How a field takes part.
pub(crate) enum FieldRule {
    /// As its type says.
    Visited,
    /// The same; then it is sorted.
    Sorted,
    /// It is a call of the client in another field.
    CallOf(Member),
    /// It counts the client's calls.
    Counter,
    /// Not at all.
    Skipped,
}

/// What the type does itself.
pub(crate) struct TypeRules {
    /// Where the trait is: the path of `fencepost_model`.
    pub(crate) model: Path,
    /// Called by `settle`, after the fields.
    pub(crate) settle: Option<Path>,
}

impl FieldRule {
    pub(crate) fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut rule = None;
        each(attributes, |meta| {
            let found = if meta.path.is_ident("sorted") {
                FieldRule::Sorted
            } else if meta.path.is_ident("of") {
                FieldRule::CallOf(meta.value()?.parse()?)
            } else if meta.path.is_ident("counter") {
                FieldRule::Counter
            } else if meta.path.is_ident("skip") {
                reason(&meta)?;
                FieldRule::Skipped
            } else {
                return Err(meta.error("write `sorted`, `of = field`, `counter` or `skip = \"why\"`"));
            };
            match rule.replace(found) {
                None => Ok(()),
                Some(_) => Err(meta.error("one rule for each field")),
            }
        })?;
        Ok(rule.unwrap_or(FieldRule::Visited))
    }
}

impl TypeRules {
    pub(crate) fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut rules = TypeRules { model: parse_quote!(::fencepost_model), settle: None };
        each(attributes, |meta| {
            if meta.path.is_ident("crate") {
                rules.model = meta.value()?.parse()?;
            } else if meta.path.is_ident("settle") {
                rules.settle = Some(meta.value()?.parse()?);
            } else {
                return Err(
                    meta.error("write `settle = function` or `crate = path`; what concerns a field goes to the field")
                );
            }
            Ok(())
        })?;
        Ok(rules)
    }
}

/// Parses what stands in each `#[normal(…)]`.
fn each(attributes: &[Attribute], mut parse: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>) -> syn::Result<()> {
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("normal"))
        .try_for_each(|attribute| attribute.parse_nested_meta(&mut parse))
}

/// A field is skipped for a reason, or not at all.
fn reason(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    let without = "say why: `skip = \"…\"`";
    if !meta.input.peek(Token![=]) {
        return Err(meta.error(without));
    }
    let why: LitStr = meta.value()?.parse()?;
    if why.value().trim().is_empty() {
        return Err(syn::Error::new(why.span(), without));
    }
    Ok(())
}
