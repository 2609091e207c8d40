//! The normal form of ids, of plain values, and of containers.

use super::{Normal, Visitor};
use crate::ids::{Call, ClientId, Index, ProcessId, SessionId, Tenure, Token};
use crate::inline_array::InlineArray;
use crate::inline_vec::InlineVec;
use crate::time::{Deadline, Instant, LeaseEnd, Since, StartTime, Ticks};

/// Plain values: they have an absolute meaning.
macro_rules! plain {
    ($($name:ty),*) => {$(
        impl Normal for $name {
            #[inline]
            fn visit(&mut self, _: &mut impl Visitor) {}
        }
    )*};
}

plain!((), bool, u8, u16, u32, u64, Ticks);

/// Stored instants, by the way they are compared.
macro_rules! instants {
    ($($name:ty: $visit:ident),*) => {$(
        impl Normal for $name {
            #[inline]
            fn visit(&mut self, visitor: &mut impl Visitor) {
                visitor.$visit(&mut self.0);
            }
        }
    )*};
}

instants!(Deadline: deadline, LeaseEnd: until, StartTime: elapsed, Since: since);

/// A container shows each of its elements.
macro_rules! contents {
    ($([$($generics:tt)*] $name:ty: $each:ident),* $(,)?) => {$(
        impl<$($generics)*> Normal for $name {
            #[inline]
            fn visit(&mut self, visitor: &mut impl Visitor) {
                self.$each().for_each(|value| value.visit(visitor));
            }

            #[inline]
            fn settle(&mut self, oldest: Instant) {
                self.$each().for_each(|value| value.settle(oldest));
            }

            #[inline]
            fn sort(&mut self) {
                self.$each().for_each(Normal::sort);
            }
        }
    )*};
}

contents! {
    [T: Normal] Option<T>: iter_mut,
    [T: Normal] Vec<T>: iter_mut,
    [T: Normal, const N: usize] [T; N]: iter_mut,
    [T: Normal + Copy, const N: usize] InlineVec<T, N>: iter_mut,
    [T: Normal + Copy + Default, const N: usize] InlineArray<T, N>: iter_mut,
}

impl<T: Normal> Normal for Box<T> {
    #[inline]
    fn visit(&mut self, visitor: &mut impl Visitor) {
        (**self).visit(visitor);
    }

    #[inline]
    fn settle(&mut self, oldest: Instant) {
        (**self).settle(oldest);
    }

    #[inline]
    fn sort(&mut self) {
        (**self).sort();
    }
}

macro_rules! tuples {
    ($(($($name:ident),*)),*) => {$(
        #[allow(non_snake_case, reason = "a variable is called as its type")]
        impl<$($name: Normal),*> Normal for ($($name,)*) {
            #[inline]
            fn visit(&mut self, visitor: &mut impl Visitor) {
                let ($($name,)*) = self;
                $($name.visit(visitor);)*
            }

            #[inline]
            fn settle(&mut self, oldest: Instant) {
                let ($($name,)*) = self;
                $($name.settle(oldest);)*
            }

            #[inline]
            fn sort(&mut self) {
                let ($($name,)*) = self;
                $($name.sort();)*
            }
        }
    )*};
}

tuples!((A, B), (A, B, C));

/// Ids show themselves.
macro_rules! ids {
    ($($name:ident: $visit:ident),*) => {$(
        impl Normal for $name {
            #[inline]
            fn visit(&mut self, visitor: &mut impl Visitor) {
                visitor.$visit(self);
            }
        }
    )*};
}

ids!(Index: index, Token: token, Tenure: tenure, SessionId: session, Call: call, ClientId: client);

impl Normal for ProcessId {
    #[inline]
    fn visit(&mut self, visitor: &mut impl Visitor) {
        if let ProcessId::Client(client) = self {
            visitor.client(client);
        }
    }
}
