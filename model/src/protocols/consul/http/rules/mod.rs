//! A test for each rule about the HTTP API, named after it.
