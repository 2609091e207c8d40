//! The three functions of the trait, field by field.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Fields, Ident, Index, Member, Path, Type, Variant};

use crate::rules::{FieldRule, TypeRules};

/// A struct, or a variant of an enum.
pub(crate) struct FieldList {
    /// `Self`, or `Self::Variant`.
    path: TokenStream,
    fields: Vec<Field>,
}

struct Field {
    member: Member,
    ty: Type,
    rule: FieldRule,
}

impl FieldList {
    pub(crate) fn of_struct(fields: &Fields) -> syn::Result<Self> {
        FieldList::new(quote!(Self), fields)
    }

    pub(crate) fn of_variant(variant: &Variant) -> syn::Result<Self> {
        let name = &variant.ident;
        FieldList::new(quote!(Self::#name), &variant.fields)
    }

    fn new(path: TokenStream, fields: &Fields) -> syn::Result<Self> {
        let field = |(place, field): (usize, &syn::Field)| {
            let member = field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(place)), Member::Named);
            Ok(Field { member, ty: field.ty.clone(), rule: FieldRule::of(&field.attrs)? })
        };
        let fields: Vec<Field> = fields.iter().enumerate().map(field).collect::<syn::Result<_>>()?;
        for call in &fields {
            if let FieldRule::CallOf(owner) = &call.rule
                && fields.iter().all(|other| other.member != *owner)
            {
                return Err(syn::Error::new(owner.span(), "there is no such field beside it"));
            }
        }
        Ok(FieldList { path, fields })
    }

    /// The types that have to implement the trait.
    pub(crate) fn visited(&self) -> impl Iterator<Item = &Type> {
        let is_visited = |field: &&Field| matches!(field.rule, FieldRule::Visited | FieldRule::Sorted);
        self.fields.iter().filter(is_visited).map(|field| &field.ty)
    }

    /// One row of the `match`; each field is bound to its variable.
    fn arm(&self, body: TokenStream) -> TokenStream {
        let path = &self.path;
        let bindings = self.fields.iter().map(|field| {
            let (member, variable) = (&field.member, field.variable());
            quote!(#member: #variable)
        });
        quote!(#path { #(#bindings),* } => { #body })
    }

    /// Calls go first: they are those of the client as it is still called.
    fn visit(&self, model: &Path) -> TokenStream {
        let calls = self.fields.iter().filter_map(|call| {
            let FieldRule::CallOf(owner) = &call.rule else { return None };
            let (owner, call_variable) = (variable(owner), call.variable());
            Some(quote_spanned! { call.ty.span() =>
                if let Some(client) = #model::normal::client_of(*#owner) {
                    visitor.call_of(client, #call_variable);
                }
            })
        });
        let counters = self.fields.iter().filter(|field| matches!(field.rule, FieldRule::Counter)).map(|field| {
            let variable = field.variable();
            quote_spanned!(field.ty.span() => visitor.counter(#variable);)
        });
        let fields = self.each(model, |trait_path, field| quote!(#trait_path::visit(#field, visitor);));
        self.arm(quote!(#(#calls)* #fields #(#counters)*))
    }

    fn settle(&self, model: &Path) -> TokenStream {
        self.arm(self.each(model, |trait_path, field| quote!(#trait_path::settle(#field, oldest);)))
    }

    fn sort(&self, model: &Path) -> TokenStream {
        let fields = self.each(model, |trait_path, field| quote!(#trait_path::sort(#field);));
        let sorted = self.fields.iter().filter(|field| matches!(field.rule, FieldRule::Sorted)).map(|field| {
            let variable = field.variable();
            quote_spanned!(field.ty.span() => #variable.sort_unstable();)
        });
        self.arm(quote!(#fields #(#sorted)*))
    }

    /// A statement for each field that takes part by its type; errors point at that type.
    fn each(&self, model: &Path, statement: impl Fn(TokenStream, Ident) -> TokenStream) -> TokenStream {
        let is_visited = |field: &&Field| matches!(field.rule, FieldRule::Visited | FieldRule::Sorted);
        let statements = self.fields.iter().filter(is_visited).map(|field| {
            let ty = &field.ty;
            let trait_path = quote_spanned!(ty.span() => <#ty as #model::normal::Normal>);
            statement(trait_path, field.variable())
        });
        quote!(#(#statements)*)
    }
}

impl Field {
    fn variable(&self) -> Ident {
        variable(&self.member)
    }
}

fn variable(member: &Member) -> Ident {
    match member {
        Member::Named(name) => format_ident!("field_{}", name),
        Member::Unnamed(index) => format_ident!("field_{}", index.index),
    }
}

pub(crate) fn bodies(shapes: &[FieldList], rules: &TypeRules) -> TokenStream {
    let model = &rules.model;
    let after = rules.settle.as_ref().map(|function| quote_spanned!(function.span() => #function(self, oldest);));
    if shapes.iter().all(|shape| shape.fields.is_empty()) {
        let settle = after.map(|after| quote!(fn settle(&mut self, oldest: #model::time::Instant) { #after }));
        return quote! {
            #[inline]
            fn visit(&mut self, _: &mut impl #model::normal::Visitor) {}
            #settle
        };
    }
    let visits = shapes.iter().map(|shape| shape.visit(model));
    let settles = shapes.iter().map(|shape| shape.settle(model));
    let sorts = shapes.iter().map(|shape| shape.sort(model));
    quote! {
        #[inline]
        #[allow(unused_variables, reason = "some fields are skipped")]
        fn visit(&mut self, visitor: &mut impl #model::normal::Visitor) {
            match self { #(#visits)* }
        }

        #[inline]
        #[allow(unused_variables, reason = "some fields are skipped")]
        fn settle(&mut self, oldest: #model::time::Instant) {
            match self { #(#settles)* }
            #after
        }

        #[inline]
        #[allow(unused_variables, reason = "some fields are skipped")]
        fn sort(&mut self) {
            match self { #(#sorts)* }
        }
    }
}
