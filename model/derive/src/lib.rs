//! `#[derive(Normal)]`: each field of a process, a message or a timer takes part in the normal form.
//!
//! ```text
//! rules    what an attribute says of a field, or of the type
//! bodies   the three functions of the trait, field by field
//! ```

mod bodies;
mod rules;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, GenericParam, Ident, Type, parse_macro_input, parse_quote};

use crate::bodies::{FieldList, bodies};
use crate::rules::TypeRules;

/// Implements `Normal`: every field is visited, settled and sorted, in the order of declaration. A field whose type does
/// not implement `Normal`, such as a bare `Instant`, is a compile error.
///
/// On a field:
/// * `#[normal(sorted)]`: a list without an order of its own. `sort` sorts it, after each of its elements.
/// * `#[normal(of = client)]`: a call of the client (or process) in that field, not of the client in scope.
/// * `#[normal(counter)]`: the number of the newest call of the client in scope, kept for nothing but to number the next one. It promises
///   that calls are only compared with `==`, and that a message on a call that the state does not show otherwise is ignored.
/// * `#[normal(skip = "why")]`: the field is left alone, for the reason given.
///
/// On the type:
/// * `#[normal(settle = function)]`: `settle` calls `function(&mut self, oldest)` after the fields.
/// * `#[normal(crate = fencepost::model)]`: the path of `fencepost_model`, for crates that do not depend on it by that name.
#[proc_macro_derive(Normal, attributes(normal))]
pub fn derive_normal(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(input).unwrap_or_else(syn::Error::into_compile_error).into()
}

fn expand(mut input: DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let rules = TypeRules::of(&input.attrs)?;
    let shapes = match &input.data {
        Data::Struct(data) => vec![FieldList::of_struct(&data.fields)?],
        Data::Enum(data) => data.variants.iter().map(FieldList::of_variant).collect::<syn::Result<Vec<_>>>()?,
        Data::Union(data) => return Err(syn::Error::new(data.union_token.span, "a union has no normal form")),
    };
    let (bodies, model) = (bodies(&shapes, &rules), &rules.model);
    let parameters: Vec<Ident> = input
        .generics
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => Some(parameter.ident.clone()),
            GenericParam::Lifetime(_) | GenericParam::Const(_) => None,
        })
        .collect();
    let generic: Vec<Type> =
        shapes.iter().flat_map(FieldList::visited).filter(|ty| mentions(ty, &parameters)).cloned().collect();
    if !generic.is_empty() {
        let bounds = &mut input.generics.make_where_clause().predicates;
        for ty in generic {
            bounds.push(parse_quote!(#ty: #model::normal::Normal));
        }
    }
    let name = &input.ident;
    let (of, with, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #of #model::normal::Normal for #name #with #bounds {
            #bodies
        }
    })
}

/// Whether a type names one of these parameters.
fn mentions(ty: &Type, parameters: &[Ident]) -> bool {
    fn any(tokens: proc_macro2::TokenStream, parameters: &[Ident]) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(ident) => parameters.contains(&ident),
            proc_macro2::TokenTree::Group(group) => any(group.stream(), parameters),
            proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
        })
    }
    any(quote!(#ty), parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        let input = syn::parse_str(text).expect("a type");
        expand(input).map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &str, reason: &str) {
        let error = expanded(text).expect_err("the attribute is wrong");
        assert!(error.contains(reason), "{text}: {error}");
    }

    #[test]
    fn a_field_is_not_skipped_without_a_reason() {
        refused("struct Lock { #[normal(skip)] token: Token }", "say why");
        refused("struct Lock { #[normal(skip = \" \")] token: Token }", "say why");
        assert!(expanded("struct Lock { #[normal(skip = \"a count\")] token: Token }").is_ok());
    }

    #[test]
    fn an_error_suggests_a_correction() {
        refused("struct Lock { #[normal(sort)] waiters: Waiters }", "write `sorted`");
        refused("struct Lock(#[normal(of = 1)] Call);", "no such field");
        refused("#[normal(sorted)] struct Lock;", "write `settle");
        refused("struct Lock(#[normal(sorted, skip = \"twice\")] Waiters);", "one rule");
        refused("union Lock { token: Token }", "union");
    }

    #[test]
    fn a_counter_is_shown_as_one() {
        let text = expanded("struct Client { open: Call, #[normal(counter)] last: Call }").expect("well-formed");
        assert!(text.contains("visitor . counter (field_last)"), "{text}");
        refused("struct Client { #[normal(counter, sorted)] last: Call }", "one rule");
    }

    #[test]
    fn the_trait_may_be_elsewhere() {
        let text = expanded("#[normal(crate = fencepost::model)] struct Lock<T> { of: ClientId, token: T }")
            .expect("well-formed");
        assert!(text.contains("fencepost :: model :: normal :: Normal for Lock"), "{text}");
        assert!(!text.contains("fencepost_model"), "{text}");
    }

    #[test]
    fn only_types_with_a_parameter_are_bounded() {
        let text = expanded("struct Claim<V = Opaque>(V, u8);").expect("well-formed");
        let bounds = text.split("where").nth(1).and_then(|rest| rest.split('{').next()).expect("a bound");
        assert!(bounds.contains('V') && !bounds.contains("u8"), "{bounds}");
    }
}
