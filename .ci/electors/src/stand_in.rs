//! The control of a stand-in: faults, a clean store, and the verdict.

use http::Request;
use kube::{Client, Config};
use serde_json::{Value, json};

pub struct StandIn(Client);

/// A client at an address.
pub fn client(address: &str) -> Client {
    Client::try_from(Config::new(format!("http://{address}").parse().expect("an address"))).expect("a client")
}

impl StandIn {
    pub fn at(address: &str) -> Self {
        StandIn(client(address))
    }

    async fn ask(&self, method: &str, path: &str, body: String) -> Value {
        let request = Request::builder().method(method).uri(path).header("Content-Type", "application/json");
        let request = request.body(body.into_bytes()).expect("a request");
        let told = self.0.request_text(request).await.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        serde_json::from_str(&told).expect("JSON")
    }

    /// No lease, no fault, and nothing seen.
    pub async fn begin(&self, story: &str) {
        println!("{story}");
        self.ask("PUT", "/fencepost/reset", String::new()).await;
    }

    pub async fn plan(&self, text: &str) {
        self.ask("PUT", "/fencepost/faults", text.to_owned()).await;
    }

    /// A free lease of the name `lead`, as an operator creates it.
    pub async fn create_lease(&self) {
        let lease = json!({"metadata": {"name": "lead"}, "spec": {}});
        self.ask("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", lease.to_string()).await;
    }

    /// The lease `lead`.
    pub async fn lease(&self) -> Value {
        self.ask("GET", "/apis/coordination.k8s.io/v1/namespaces/default/leases/lead", String::new()).await
    }

    /// The names of the promises that are broken so far, and the takeovers.
    pub async fn verdict(&self) -> (Vec<String>, Vec<Value>) {
        let verdict = self.ask("GET", "/fencepost/verdict", String::new()).await;
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for finding in list(&verdict["findings"]) {
            println!("  {} of {}: {}", text(&finding["property"]), text(&finding["key"]), text(&finding["sentence"]));
        }
        let takeovers = list(&verdict["leases"]["takeovers"]);
        for takeover in &takeovers {
            let [from, to, unchanged] = ["from", "to", "unchanged_for"].map(|field| text(&takeover[field]));
            println!("  {to} took over from {from}; the record had stood unchanged for {unchanged} s");
        }
        let found = list(&verdict["findings"]).iter().map(|finding| text(&finding["property"])).collect();
        (found, takeovers)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// For how long a record had stood unchanged when it was taken over.
pub fn unchanged(takeover: &Value) -> f64 {
    takeover["unchanged_for"].as_str().and_then(|text| text.parse().ok()).expect("seconds")
}
