//! The HTTP client of the exporters, with a runtime of its own: they send from threads that have none, and after the
//! host's has ended.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};

/// One signal's way to its collector.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    thread: Thread,
    timeout: Duration,
    failure: Arc<Mutex<Option<String>>>,
}

/// State shared by the clients of all signals.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    http: reqwest::Client,
    runtime: Arc<Mutex<Option<Runtime>>>,
}

impl Thread {
    pub(crate) fn start() -> Result<Self, Box<dyn Error>> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("telemetry")
            .enable_all()
            .build()?;
        // A collector that answers with a redirect is a wrong address, and what is sent is not for the host that it names.
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self {
            http,
            runtime: Arc::new(Mutex::new(Some(runtime))),
        })
    }

    pub(crate) fn client(&self, timeout: Duration) -> Client {
        Client {
            thread: self.clone(),
            timeout,
            failure: Arc::default(),
        }
    }

    pub(crate) fn stop(&self) {
        let runtime = self.runtime.lock().take();
        if let Some(runtime) = runtime {
            runtime.shutdown_background();
        }
    }
}

impl Client {
    /// Returns the last error, when the last delivery failed. The exporter itself does not report it.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }

    async fn send(self, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
        let (head, body) = request.into_parts();
        let http = &self.thread.http;
        let reply = http
            .request(head.method, head.uri.to_string())
            .timeout(self.timeout)
            .headers(head.headers)
            .body(body)
            .send()
            .await?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = reply.status();
        *response.headers_mut() = reply.headers().clone();
        *response.body_mut() = reply.bytes().await?;
        Ok(response)
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let work = {
            let runtime = self.thread.runtime.lock();
            let runtime = runtime.as_ref().ok_or("the exporter has stopped")?;
            runtime.spawn(self.clone().send(request))
        };
        let answer = match work.await? {
            Ok(response) => Ok(response),
            Err(error) => Err(in_full(&error)),
        };
        let failure = match &answer {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(format!("it answered {}", response.status())),
            Err(why) => Some(why.clone()),
        };
        *self.failure.lock() = failure;
        Ok(answer?)
    }
}

/// Formats an error with its causes: the outermost alone says only that sending failed.
fn in_full(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
